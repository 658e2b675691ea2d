"use strict";

// Tables: a click, or the space bar, on a head sorts by its column, a second one the other way round. Cells without a
// value stay last.
function key(row, column) {
    const cell = row.cells[column];
    if (cell.dataset.sort !== undefined) return Number(cell.dataset.sort);
    const text = cell.textContent.trim();
    return text === "–" || text === "" ? null : text;
}

function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", {numeric: true});
}

function sortBy(head) {
    const column = head.cellIndex, body = head.closest("table").tBodies[0];
    const down = head.getAttribute("aria-sort") === "ascending";
    const rows = Array.from(body.rows, row => ({row, key: key(row, column)}));
    rows.sort((a, b) => a.key === null || b.key === null ? (a.key === null) - (b.key === null)
        : (down ? -1 : 1) * compare(a.key, b.key));
    for (const other of head.parentElement.cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows.map(r => r.row));
}

for (const head of document.querySelectorAll("th[aria-sort]"))
    head.firstElementChild.addEventListener("click", () => sortBy(head));

// Commands are copied; a page that was opened as a file may not have the clipboard: the text is then selected.
for (const button of document.querySelectorAll(".copy")) {
    button.addEventListener("click", async () => {
        const text = button.parentElement.querySelector("pre");
        try {
            await navigator.clipboard.writeText(text.textContent);
            button.textContent = "Copied";
        } catch {
            getSelection().selectAllChildren(text);
            button.textContent = "Selected";
        }
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
}

// Colours as the system has them, or light, or dark; remembered where the browser allows it.
const themes = ["system", "light", "dark"], theme = document.getElementById("theme");

function setTheme(name) {
    if (name === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    theme.textContent = "Colours: " + name;
    theme.dataset.name = name;
}

function remembered() {
    try { return localStorage.getItem("saddle-theme"); } catch { return null; }
}

function remember(name) {
    try { localStorage.setItem("saddle-theme", name); } catch { /* not allowed: forgotten */ }
}

theme.hidden = false;
setTheme(themes.includes(remembered()) ? remembered() : "system");
theme.addEventListener("click", () => {
    setTheme(themes[(themes.indexOf(theme.dataset.name) + 1) % themes.length]);
    remember(theme.dataset.name);
});

// On a narrow screen the contents are folded; on paper nothing is.
const contents = document.querySelector("nav details");
if (matchMedia("(max-width: 67.99rem)").matches) contents.open = false;
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(d => { d.open = true; }));

// Where the reader is.
const places = new Map(Array.from(document.querySelectorAll("nav a"), a => [a.hash.slice(1), a]));
const seen = new IntersectionObserver(entries => {
    for (const e of entries) {
        if (!e.isIntersecting) continue;
        for (const a of places.values()) a.removeAttribute("aria-current");
        places.get(e.target.id).setAttribute("aria-current", "location");
    }
}, {rootMargin: "-10% 0px -75% 0px"});
for (const id of places.keys()) seen.observe(document.getElementById(id));
