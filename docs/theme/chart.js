// Colours of `.chart` text, as a language of highlight.js, which mdBook brings. mdBook has coloured all other blocks before this runs.
(function () {
    "use strict";
    if (typeof hljs === "undefined") {
        return;
    }
    hljs.registerLanguage("chart", function (hljs) {
        const placeholder = { className: "subst", begin: /\{[a-zA-Z_]/, end: /\}/ };
        const escape = { begin: /\\./ };
        // What is declared, or led to, is a name, even if it is spelled like a keyword.
        const name = { end: /[a-z_][\w.]*/ };
        return {
            keywords: {
                keyword:
                    "chart state parallel final history initial event var param input meta import type enum fn do tool tools client " +
                    "component test check allow limits defaults from on may when after done error enter exit ask llm code call human run " +
                    "prompt returns into each in up to retry then else timeout raise send cancel log if and or not reenter stay turn " +
                    "pred any as at expect answers turns deep idempotent doubt renamed_from advice always before calls contains ended " +
                    "ends enough events except fail fails given offered only per skip trace wait warn with",
                literal: "true false none",
                built_in: "Bool Int Float Text Duration Json List Map"
            },
            contains: [
                hljs.COMMENT(/\/\//, /$/),
                { className: "string", begin: /"""/, end: /"""/, contains: [escape, placeholder] },
                { className: "string", begin: /"/, end: /"/, illegal: /\n/, contains: [escape, placeholder] },
                { className: "number", begin: /\b\d[\d_]*(\.\d+)?(ms|s|m|h|d)?\b/ },
                { className: "keyword", begin: /\b(?:state|parallel|final|history|initial|event|param|input|var|pred)(?=\s+[a-z_])/, starts: name },
                { className: "symbol", begin: /->(?=\s*[a-z_])/, starts: name },
                { className: "symbol", begin: /->/ }
            ]
        };
    });
    // Commands with their output; the charts that they write are coloured, too.
    hljs.registerLanguage("console", function () {
        return {
            contains: [
                { begin: /^\$ cat > \S+\.chart <<'?END'?\n/, end: /^END$/, excludeBegin: true, excludeEnd: true, subLanguage: "chart" },
                { begin: /^\$ cat > \S+ <<'?END'?\n/, end: /^END$/, excludeBegin: true, excludeEnd: true },
                { className: "meta", begin: /^\$ / }
            ]
        };
    });
    document.querySelectorAll("code.language-chart, code.language-console").forEach(function (block) {
        hljs.highlightBlock(block);
    });
})();
