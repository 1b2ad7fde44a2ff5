;;; chart-mode.el --- Charts of chartc -*- lexical-binding: t -*-

;; Author: The chartc authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "26.1"))
;; Keywords: languages
;; URL: https://github.com/chartc/chartc
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Colours and indentation for .chart files, and the language server of chartc for Eglot:
;;
;;     (require 'chart-mode)
;;     (add-hook 'chart-mode-hook #'eglot-ensure)

;;; Code:

(require 'seq)

(defgroup chart nil
  "Charts of chartc."
  :group 'languages)

(defcustom chart-indent-offset 2
  "Blanks that each bracket indents by, as `chartc fmt' does."
  :type 'integer
  :safe #'integerp)

(defcustom chart-server-command '("chartc" "lsp")
  "The language server and its arguments."
  :type '(repeat string))

(defconst chart--reserved
  '("and" "or" "not" "in" "if" "then" "else" "for" "none" "true" "false" "stay" "turn" "div")
  "Words that are no names without back-quotes.")

(defconst chart--first
  '("import" "type" "enum" "chart" "fn" "do" "tool" "tools" "client" "component" "test"
    "state" "on" "when" "may" "after" "each" "initial" "final" "llm" "ask" "code" "call" "human" "run" "from"
    "enter" "exit" "allow" "advice" "limits" "parallel" "history" "var" "param" "input" "event" "pred"
    "check" "defaults" "trace" "meta"
    "prompt" "returns" "retry" "skip" "fail" "done" "error" "timeout" "doubt" "cut" "ends" "up" "enough"
    "raise" "send" "cancel" "log"
    "given" "at" "turns" "set" "wait" "answers" "fails" "expect")
  "Words that begin an item.  Elsewhere they are names.")

(defvar chart-font-lock-keywords
  (let ((name "\\(?:[A-Za-z_][A-Za-z0-9_]*\\|`[^`\n]*`\\)"))
    `((,(concat "\\(?:^\\|[{}]\\)[ \t]*" (regexp-opt chart--first t) "\\_>") 1 font-lock-keyword-face)
      (,(regexp-opt chart--reserved 'symbols) . font-lock-keyword-face)
      (,(concat "\\_<\\(?:chart\\|type\\|enum\\)[ \t]+\\(" name "\\)") 1 font-lock-type-face)
      (,(concat "\\_<\\(?:fn\\|do\\|tool\\)[ \t]+\\([A-Za-z0-9_.`]+\\)[ \t]*(") 1 font-lock-function-name-face)
      (,(concat "\\_<\\(?:var\\|param\\|input\\|pred\\)[ \t]+\\(" name "\\)") 1 font-lock-variable-name-face)
      (,(concat "\\_<\\(?:state\\|parallel\\|final\\|history\\|llm\\|ask\\|code\\|call\\|human\\|run\\)[ \t]+\\(" name "\\)")
       1 font-lock-function-name-face)
      (,(concat "->[ \t]*\\([A-Za-z0-9_.`]+\\)") 1 font-lock-constant-face)
      ("\\_<[0-9]+\\(?:\\.[0-9]+\\)?\\(?:[eE][+-]?[0-9]+\\|ms\\|[smhd]\\)?\\_>" . font-lock-constant-face)
      ("\\_<[A-Z][A-Za-z0-9_]*\\_>" . font-lock-type-face)))
  "Colours of charts.")

(defvar chart-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?/ ". 12" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?\\ "\\" table)
    (modify-syntax-entry ?\` "." table)
    table)
  "The syntax of charts.")

(defun chart--block-texts (start end)
  "Let the quotes of block texts between START and END open and close one text."
  (goto-char start)
  (while (re-search-forward "\"\"\"" end t)
    (let* ((open (match-beginning 0))
           (state (save-excursion (syntax-ppss open))))
      (cond
       ((nth 4 state))
       ((nth 3 state)
        (when (eq (nth 3 state) t)
          (put-text-property (1- (point)) (point) 'syntax-table (string-to-syntax "|"))))
       (t
        (put-text-property open (1+ open) 'syntax-table (string-to-syntax "|"))
        (put-text-property (1+ open) (point) 'syntax-table (string-to-syntax ".")))))))

(defun chart-indent-line ()
  "Indent a line by the brackets around it."
  (interactive)
  (let* ((at (- (point-max) (point)))
         (state (save-excursion (syntax-ppss (line-beginning-position)))))
    (unless (nth 3 state)
      (let ((depth (car state)))
        (save-excursion
          (back-to-indentation)
          (when (looking-at "[])}]")
            (setq depth (1- depth)))
          (indent-line-to (* chart-indent-offset (max 0 depth))))
        (when (> (- (point-max) at) (point))
          (goto-char (- (point-max) at)))
        (when (< (current-column) (current-indentation))
          (back-to-indentation))))))

;;;###autoload
(define-derived-mode chart-mode prog-mode "Chart"
  "Major mode for the charts of chartc."
  (setq-local comment-start "// ")
  (setq-local comment-end "")
  (setq-local comment-start-skip "///?[ \t]*")
  (setq-local indent-tabs-mode nil)
  (setq-local indent-line-function #'chart-indent-line)
  (setq-local syntax-propertize-function #'chart--block-texts)
  (setq-local font-lock-defaults '(chart-font-lock-keywords))
  (setq-local imenu-generic-expression
              '(("Charts" "^[ \t]*chart[ \t]+\\([A-Za-z0-9_`]+\\)" 1)
                ("States" "^[ \t]*\\(?:state\\|parallel\\|final\\)[ \t]+\\([A-Za-z0-9_`]+\\)" 1)
                ("Tests" "^[ \t]*test[ \t]+\"\\([^\"\n]*\\)\"" 1))))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.chart\\'" . chart-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs (cons 'chart-mode chart-server-command)))

(provide 'chart-mode)
;;; chart-mode.el ends here
