;;; server.el --- What Emacs makes of a faulty chart -*- lexical-binding: t -*-

;;; Commentary:

;; CHARTC is the binary, FOLDER holds door.chart.  Prints the findings that Eglot shows, and the text as it is formatted.

;;; Code:

(setq make-backup-files nil)
(setq chart-server-command (list (getenv "CHARTC") "lsp"))
(require 'chart-mode)
(unless (locate-library "eglot")
  (princ "no eglot\n")
  (kill-emacs 0))
(require 'eglot)
(setq eglot-sync-connect 30)

(find-file (expand-file-name "door.chart" (getenv "FOLDER")))
(princ (format "mode %s\n" major-mode))
(font-lock-ensure)
(dolist (word '("chart" "Door" "// A note" "30s"))
  (goto-char (point-min))
  (search-forward word)
  (princ (format "face %s %s\n" word (get-text-property (match-beginning 0) 'face))))

(apply #'eglot (eglot--guess-contact))
(let ((left 300))
  (while (and (> left 0) (null (flymake-diagnostics)))
    (setq left (1- left))
    (accept-process-output nil 0.1)
    (flymake-start)))
(dolist (found (flymake-diagnostics))
  (princ (format "finding %d %s\n"
                 (line-number-at-pos (flymake-diagnostic-beg found))
                 (car (split-string (flymake-diagnostic-text found) "\n")))))
(eglot-format-buffer)
(princ (buffer-string))
(set-buffer-modified-p nil)
(eglot-shutdown (eglot-current-server))
;;; server.el ends here
