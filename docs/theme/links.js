// Links to files outside the book, such as ../charts/builder.chart, lead into the repository.
(function () {
    "use strict";
    const repository = document.querySelector("a[href*='github.com'][title='Git repository']");
    if (!repository) {
        return;
    }
    const root = new URL(typeof path_to_root === "undefined" ? "./" : path_to_root || "./", document.location.href);
    document.querySelectorAll("main a[href^='../']").forEach(function (link) {
        const target = new URL(link.getAttribute("href"), document.location.href);
        if (!target.href.startsWith(root.href)) {
            const above = new URL("../", root).href;
            // mdBook takes every .md for a page of the book.
            const path = target.href.slice(above.length).replace(/\.html(#|$)/, ".md$1");
            link.href = repository.href.replace(/\/$/, "") + "/blob/main/" + path;
        }
    });
})();
