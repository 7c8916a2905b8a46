"use strict";
(() => {
  const all = (query, root = document) => [...root.querySelectorAll(query)];
  document.documentElement.classList.add("js");

  // Sorting: every heading of a table that may be sorted becomes a button.
  const number = (text) => {
    const found = text.replace(/,/g, "").match(/-?\d+(\.\d+)?/);
    if (!found) return null;
    const value = parseFloat(found[0]);
    return text.includes("<") ? value - 0.5 : text.includes(">") ? value + 0.5 : value;
  };
  const sort = (table, index, descending) => {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const texts = rows.map((row) => row.cells[index].textContent.trim());
    const numbers = texts.map(number);
    const numeric = table.tHead.rows[0].cells[index].classList.contains("n");
    const order = rows.map((_, i) => i).sort((a, b) => {
      let found = 0;
      if (numeric) found = (numbers[a] ?? -1) - (numbers[b] ?? -1);
      else found = texts[a].localeCompare(texts[b], undefined, { numeric: true });
      return (descending ? -found : found) || a - b;
    });
    body.append(...order.map((i) => rows[i]));
  };
  for (const table of all("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, index) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const was = head.getAttribute("aria-sort");
        const descending = was ? was === "ascending" : head.classList.contains("n");
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        sort(table, index, descending);
      });
    });
  }

  // Filtering: a field above a table hides the rows without its text.
  for (const box of all(".filter")) {
    const table = document.getElementById(box.dataset.table);
    const input = box.querySelector("input");
    const told = box.querySelector("output");
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      let shown = 0;
      for (const row of table.tBodies[0].rows) {
        const text = row.cells[0].textContent + " " + row.cells[1].textContent;
        row.hidden = wanted !== "" && !text.toLowerCase().includes(wanted);
        if (!row.hidden) shown += 1;
      }
      told.textContent = wanted ? `${shown} found` : "";
    });
  }

  // Folding: what is open without a script is folded, but for the first of its kind.
  const folds = all("details.fold");
  folds.forEach((fold) => { if (fold.dataset.first === undefined) fold.open = false; });
  for (const button of all("button[data-folds]")) {
    button.addEventListener("click", () => {
      const mine = all("details.fold", document.getElementById(button.dataset.folds));
      const open = mine.some((fold) => !fold.open);
      mine.forEach((fold) => { fold.open = open; });
      button.textContent = open ? "Close all" : "Open all";
    });
  }
  const reveal = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const fold = target && target.closest("details");
    if (fold) fold.open = true;
  };
  window.addEventListener("hashchange", reveal);
  reveal();
  let before = [];
  window.addEventListener("beforeprint", () => {
    before = all("details.mine").filter((fold) => !fold.open);
    before.forEach((fold) => { fold.open = true; });
  });
  window.addEventListener("afterprint", () => { before.forEach((fold) => { fold.open = false; }); });
})();
