// Texts with placeholders, and two questions that need more than one token of lookahead.
//
// A placeholder's text may hold texts. Their quotes are plain, `"{f("x")}"`, or escaped once more for each line text around them,
// `"{f(\"x\")}"`. The stack says which texts and placeholders are open; the number of line texts in it, from the last with plain
// quotes on, says how quotes are written.

#include "tree_sitter/alloc.h"
#include "tree_sitter/parser.h"

#include <string.h>

enum Token {
  LINE_START,
  BLOCK_START,
  PLAIN_LINE_START,
  PLAIN_BLOCK_START,
  STRING_END,
  UNCLOSED,
  STRING_CONTENT,
  ESCAPE_SEQUENCE,
  BRACE_ESCAPE,
  STRAY_BRACE,
  HOLE_START,
  HOLE_END,
  FORMAT,
  RECORD_AHEAD,
  VALUE_AHEAD,
  ERROR_SENTINEL,
};

// An inner line is a line text in a placeholder of another, with plain quotes.
enum Kind { LINE, BLOCK, PLAIN_LINE, PLAIN_BLOCK, HOLE, INNER_LINE };

#define MAX_OPEN 64
// Deeper texts would need more than 127 backslashes before a quote.
#define MAX_LEVEL 7
// How far a placeholder's closing brace is looked for.
#define MAX_HOLE 4000
// How many texts and braces with plain quotes may be open in a placeholder.
#define MAX_INNER 16

typedef struct {
  uint8_t open;
  uint8_t kinds[MAX_OPEN];
} Scanner;

static bool is_line(uint8_t kind) { return kind == LINE || kind == PLAIN_LINE || kind == INNER_LINE; }
static bool is_plain(uint8_t kind) { return kind == PLAIN_LINE || kind == PLAIN_BLOCK; }

static bool is_blank(int32_t c) { return c == ' ' || c == '\t' || c == '\r' || c == 0xFEFF; }
static bool is_lower(int32_t c) { return (c >= 'a' && c <= 'z') || c == '_'; }
static bool is_upper(int32_t c) { return c >= 'A' && c <= 'Z'; }
static bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }
static bool is_word(int32_t c) { return is_lower(c) || is_upper(c) || is_digit(c); }
static bool is_hex(int32_t c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

static void advance(TSLexer *lexer) { lexer->advance(lexer, false); }
static void skip(TSLexer *lexer) { lexer->advance(lexer, true); }

// How many of the first `count` open texts are line texts.
static unsigned level_of(const Scanner *scanner, unsigned count) {
  unsigned level = 0;
  for (unsigned i = 0; i < count; i++) {
    if (scanner->kinds[i] == INNER_LINE) level = 0;
    level += is_line(scanner->kinds[i]);
  }
  return level;
}

static bool push(Scanner *scanner, enum Kind kind) {
  if (scanner->open == MAX_OPEN) return false;
  scanner->kinds[scanner->open++] = (uint8_t)kind;
  return true;
}

static bool found(TSLexer *lexer, enum Token token) {
  lexer->result_symbol = token;
  return true;
}

// Reads up to `most` backslashes.
static unsigned backslashes(TSLexer *lexer, unsigned most) {
  unsigned count = 0;
  while (count < most && lexer->lookahead == '\\') {
    advance(lexer);
    count++;
  }
  return count;
}

// Reads a quote as it is written at a level.
static bool quote(TSLexer *lexer, unsigned level) {
  unsigned needed = (1u << level) - 1;
  if (backslashes(lexer, needed + 1) != needed || lexer->lookahead != '"') return false;
  advance(lexer);
  return true;
}

// Reads the word that is ahead, and returns whether it is one of these words of at most five letters.
static bool read_word(TSLexer *lexer, const char *const *words, unsigned count) {
  char word[6] = {0};
  unsigned length = 0;
  while (is_word(lexer->lookahead)) {
    if (length < 5) word[length] = (char)lexer->lookahead;
    length++;
    advance(lexer);
  }
  for (unsigned i = 0; length <= 5 && i < count; i++) {
    if (strcmp(word, words[i]) == 0) return true;
  }
  return false;
}

// Reads the word that is ahead, and returns whether an operand may follow it.
static bool operand_word(TSLexer *lexer) {
  static const char *const words[] = {"then", "else", "and", "or", "not", "in", "div", "if"};
  return read_word(lexer, words, sizeof words / sizeof *words);
}

// Whether a placeholder that was just opened is closed on its line, before its text ends. A plain quote in it begins a text only where
// an operand can stand.
static bool hole_closes(TSLexer *lexer, bool in_line, unsigned level) {
  unsigned inner = in_line ? level + 1 : level;
  unsigned unit = 1u << inner;
  unsigned depth = 1;
  unsigned quotes = 0;
  bool in_text = false;
  // Which of the open texts and braces are texts with plain quotes.
  bool texts[MAX_INNER + 1] = {false};
  bool operand = true;
  // Whether nothing precedes, and whether all that precedes is one text: no placeholder.
  bool first = true;
  bool only = false;
  for (unsigned read = 0; read < MAX_HOLE; read++) {
    int32_t c = lexer->lookahead;
    if (c == '\n' || (c == 0 && lexer->eof(lexer))) return false;
    if (depth > MAX_INNER) return false;
    if (texts[depth]) {
      advance(lexer);
      if (c == '\\' && lexer->lookahead != '\n') advance(lexer);
      if (c == '"') {
        texts[depth--] = false;
        operand = false;
      }
      if (c == '{' && lexer->lookahead == '{') {
        advance(lexer);
      } else if (c == '{') {
        depth++;
        operand = true;
      }
      continue;
    }
    if (only && !is_blank(c)) {
      if (c == '}' || c == ':' || c == '"') return false;
      only = false;
    }
    if (c == '\\' || c == '"') {
      unsigned run = backslashes(lexer, MAX_HOLE);
      read += run;
      if (lexer->lookahead != '"') {
        quotes = 0;
        operand = false;
        first = false;
        continue;
      }
      if (run == 0 && inner > 0 && !in_text) {
        if (!operand || depth >= MAX_INNER) return false;
        texts[++depth] = true;
        only = first;
        first = false;
        advance(lexer);
        continue;
      }
      first = false;
      operand = false;
      // A quote of a text around this one.
      if (run < unit - 1) return false;
      unsigned escapes = (run - (unit - 1)) / unit;
      quotes = escapes == 0 ? quotes + 1 : 0;
      if (!in_line && quotes == 3) return false;
      if (!in_text || escapes % 2 == 0) in_text = !in_text;
    } else {
      quotes = 0;
      if (!in_text && c == '{') depth++;
      if (!in_text && c == '}' && --depth == 0) return true;
      if (!is_blank(c)) first = false;
      if (is_lower(c) || is_upper(c)) {
        operand = operand_word(lexer);
        continue;
      }
      if (!is_blank(c)) operand = c < 128 && strchr("([,:=<>+-*/%?{", (int)c) != NULL;
    }
    advance(lexer);
  }
  return false;
}

static bool scan_brace(Scanner *scanner, TSLexer *lexer, bool in_line, unsigned level) {
  int32_t brace = lexer->lookahead;
  advance(lexer);
  if (lexer->lookahead == brace) {
    advance(lexer);
    lexer->mark_end(lexer);
    return found(lexer, BRACE_ESCAPE);
  }
  lexer->mark_end(lexer);
  if (brace == '{' && hole_closes(lexer, in_line, level) && push(scanner, HOLE)) return found(lexer, HOLE_START);
  return found(lexer, STRAY_BRACE);
}

// The text ends here without its quotes.
static bool unclosed(Scanner *scanner, TSLexer *lexer) {
  scanner->open--;
  return found(lexer, UNCLOSED);
}

static bool scan_escape(Scanner *scanner, TSLexer *lexer, unsigned level) {
  unsigned unit = 1u << level;
  unsigned run = backslashes(lexer, 2 * unit);
  if (run == 2 * unit) {
    lexer->mark_end(lexer);
    return found(lexer, ESCAPE_SEQUENCE);
  }
  int32_t c = lexer->lookahead;
  if (c == '"') {
    // A quote of a text around this one.
    if (run < unit - 1) return unclosed(scanner, lexer);
    advance(lexer);
    lexer->mark_end(lexer);
    if (run != unit - 1) return found(lexer, ESCAPE_SEQUENCE);
    scanner->open--;
    return found(lexer, STRING_END);
  }
  if (c == '\n' || lexer->eof(lexer)) {
    lexer->mark_end(lexer);
    return found(lexer, STRING_CONTENT);
  }
  advance(lexer);
  if (c == 'u' && lexer->lookahead == '{') {
    advance(lexer);
    while (is_hex(lexer->lookahead)) advance(lexer);
    if (lexer->lookahead == '}') advance(lexer);
  }
  lexer->mark_end(lexer);
  return found(lexer, ESCAPE_SEQUENCE);
}

static bool scan_line(Scanner *scanner, TSLexer *lexer, bool plain, unsigned level) {
  bool content = false;
  for (;;) {
    int32_t c = lexer->lookahead;
    bool ends = c == '\n' || lexer->eof(lexer);
    bool brace = !plain && (c == '{' || c == '}');
    if (ends || brace || c == '\\' || c == '"') {
      if (content) return found(lexer, STRING_CONTENT);
      if (ends) return unclosed(scanner, lexer);
      if (brace) return scan_brace(scanner, lexer, true, level);
      return scan_escape(scanner, lexer, level);
    }
    advance(lexer);
    lexer->mark_end(lexer);
    content = true;
  }
}

static bool scan_block(Scanner *scanner, TSLexer *lexer, bool plain, unsigned level) {
  bool content = false;
  for (;;) {
    int32_t c = lexer->lookahead;
    // Inside a line text there is but one line.
    if (lexer->eof(lexer) || (level > 0 && c == '\n')) {
      return content ? found(lexer, STRING_CONTENT) : unclosed(scanner, lexer);
    }
    if (!plain && (c == '{' || c == '}')) {
      return content ? found(lexer, STRING_CONTENT) : scan_brace(scanner, lexer, false, level);
    }
    if (c == '"' || (level > 0 && c == '\\')) {
      if (quote(lexer, level) && quote(lexer, level) && quote(lexer, level)) {
        if (content) return found(lexer, STRING_CONTENT);
        lexer->mark_end(lexer);
        scanner->open--;
        return found(lexer, STRING_END);
      }
    } else {
      advance(lexer);
    }
    lexer->mark_end(lexer);
    content = true;
  }
}

static bool scan_start(Scanner *scanner, TSLexer *lexer, bool plain, bool inner) {
  unsigned level = level_of(scanner, scanner->open);
  if (inner && level > 0 && lexer->lookahead == '"') {
    advance(lexer);
    lexer->mark_end(lexer);
    return push(scanner, INNER_LINE) && found(lexer, LINE_START);
  }
  if (level > MAX_LEVEL || !quote(lexer, level)) return false;
  lexer->mark_end(lexer);
  bool block = quote(lexer, level) && quote(lexer, level);
  if (block) lexer->mark_end(lexer);
  enum Kind kind = block ? (plain ? PLAIN_BLOCK : BLOCK) : (plain ? PLAIN_LINE : LINE);
  if (!push(scanner, kind)) return false;
  return found(lexer, (enum Token)kind);
}

// Skips blanks, line ends and comments.
static void between(TSLexer *lexer) {
  for (;;) {
    if (is_blank(lexer->lookahead) || lexer->lookahead == '\n') {
      advance(lexer);
    } else if (lexer->lookahead == '/') {
      advance(lexer);
      if (lexer->lookahead != '/') return;
      while (lexer->lookahead != '\n' && !lexer->eof(lexer)) advance(lexer);
    } else {
      return;
    }
  }
}

// Reads a name in back-quotes.
static bool quoted(TSLexer *lexer) {
  advance(lexer);
  while (lexer->lookahead != '`') {
    if (lexer->lookahead == '\\') advance(lexer);
    if (lexer->lookahead == '\n' || lexer->eof(lexer)) return false;
    advance(lexer);
  }
  advance(lexer);
  return true;
}

// `P { a: 1 }` is a record, `if P { a = 1 }` is none: the type's name, `{`, and `}` or `name :`.
static bool record_ahead(TSLexer *lexer) {
  bool back_quotes = lexer->lookahead == '`';
  if (back_quotes) {
    if (!quoted(lexer)) return false;
  } else if (is_upper(lexer->lookahead)) {
    while (is_word(lexer->lookahead)) advance(lexer);
  } else {
    return false;
  }
  between(lexer);
  if (lexer->lookahead != '{') return false;
  advance(lexer);
  between(lexer);
  if (lexer->lookahead == '}') return !back_quotes;
  if (lexer->lookahead == '`') {
    if (!quoted(lexer)) return false;
  } else {
    if (!is_lower(lexer->lookahead) && !is_upper(lexer->lookahead)) return false;
    while (is_word(lexer->lookahead)) advance(lexer);
  }
  between(lexer);
  return lexer->lookahead == ':';
}

// In `answers s …`, whether a value follows and no option's name.
static bool value_ahead(TSLexer *lexer) {
  static const char *const words[] = {"none", "true", "false", "not", "if", "in"};
  int32_t c = lexer->lookahead;
  if (c == '"' || c == '`' || c == '}' || c == '/' || lexer->eof(lexer)) return false;
  if (!is_lower(c)) return true;
  return read_word(lexer, words, sizeof words / sizeof *words);
}

static bool scan(Scanner *scanner, TSLexer *lexer, const bool *valid) {
  bool error = valid[ERROR_SENTINEL];
  uint8_t top = scanner->open > 0 ? scanner->kinds[scanner->open - 1] : HOLE;
  bool in_hole = scanner->open > 0 && top == HOLE;

  lexer->mark_end(lexer);
  if (top != HOLE && (error || valid[STRING_END])) {
    unsigned level = top == INNER_LINE ? 0 : level_of(scanner, scanner->open - 1u);
    return is_line(top) ? scan_line(scanner, lexer, is_plain(top), level) : scan_block(scanner, lexer, is_plain(top), level);
  }
  if (valid[FORMAT] && !error && in_hole && lexer->lookahead != '}') {
    bool content = false;
    while (lexer->lookahead != '}' && lexer->lookahead != '\n' && !lexer->eof(lexer)) {
      advance(lexer);
      content = true;
    }
    lexer->mark_end(lexer);
    return content && found(lexer, FORMAT);
  }

  bool apart = is_blank(lexer->lookahead) || lexer->lookahead == '\n';
  while (is_blank(lexer->lookahead)) skip(lexer);
  if (in_hole && (error || valid[HOLE_END]) && lexer->lookahead == '}') {
    advance(lexer);
    lexer->mark_end(lexer);
    scanner->open--;
    return found(lexer, HOLE_END);
  }
  if (in_hole && error && (lexer->lookahead == '\n' || lexer->eof(lexer))) {
    lexer->mark_end(lexer);
    return unclosed(scanner, lexer);
  }
  while (is_blank(lexer->lookahead) || lexer->lookahead == '\n') skip(lexer);

  lexer->mark_end(lexer);
  bool plain = (valid[PLAIN_LINE_START] || valid[PLAIN_BLOCK_START]) && !error;
  if (lexer->lookahead == '"' || (lexer->lookahead == '\\' && in_hole)) {
    if (!plain && !error && !valid[LINE_START]) return false;
    if (scan_start(scanner, lexer, plain, in_hole && !error && valid[LINE_START])) return true;
    return error && in_hole && unclosed(scanner, lexer);
  }
  if (error) return false;
  // `answers s[1] …` is about one of several questions, `answers s [1]` gives a list.
  if (valid[VALUE_AHEAD] && (apart || lexer->lookahead != '[') && value_ahead(lexer)) return found(lexer, VALUE_AHEAD);
  if (valid[RECORD_AHEAD] && record_ahead(lexer)) return found(lexer, RECORD_AHEAD);
  return false;
}

void *tree_sitter_chart_external_scanner_create(void) { return ts_calloc(1, sizeof(Scanner)); }

void tree_sitter_chart_external_scanner_destroy(void *payload) { ts_free(payload); }

unsigned tree_sitter_chart_external_scanner_serialize(void *payload, char *buffer) {
  Scanner *scanner = (Scanner *)payload;
  memcpy(buffer, scanner->kinds, scanner->open);
  return scanner->open;
}

void tree_sitter_chart_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  Scanner *scanner = (Scanner *)payload;
  scanner->open = length <= MAX_OPEN ? (uint8_t)length : 0;
  if (scanner->open > 0) memcpy(scanner->kinds, buffer, scanner->open);
}

bool tree_sitter_chart_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid_symbols) {
  return scan((Scanner *)payload, lexer, valid_symbols);
}
