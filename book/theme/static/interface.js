/* Words that other scripts put on the page, in the language of the book, and small repairs of theirs. */
(() => {
  const { language, strings } = window.bookInterface;

  if (typeof Documentation !== "undefined") {
    Documentation.addTranslations({ locale: language, messages: strings, plural_expr: "0" });
  }

  // A page from disk may not read its neighbours, so search results come without a piece of their text.
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

  // sphinx-copybutton keeps its words in two top-level variables of its script.
  if (typeof messages !== "undefined") {
    messages[language] = {
      copy: strings["Copy"],
      copy_to_clipboard: strings["Copy to clipboard"],
      copy_success: strings["Copied!"],
      copy_failure: strings["Failed to copy"],
    };
    iconCopy = iconCopy.replace(messages[locale].copy_to_clipboard, strings["Copy to clipboard"]);
    iconCheck = iconCheck.replace(messages[locale].copy_success, strings["Copied!"]);
    locale = language;
  }

  document.addEventListener("DOMContentLoaded", () => {
    // A stranger to the start page is led by the browser's language; a returning reader by this choice.
    try {
      localStorage.setItem("book-language", language);
    } catch {
      // Some browsers refuse storage to pages from disk.
    }
    // What scrolls sideways can be reached, and so scrolled, with the keyboard.
    for (const box of document.querySelectorAll(".formula, .cell_output .text_html")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    }
    for (const button of document.querySelectorAll(".toggle-button")) {
      button.setAttribute("aria-label", strings["Toggle hidden content"]);
    }
    // The same section has the same anchor in every language.
    for (const link of document.querySelectorAll(".language-switch a")) {
      link.addEventListener("click", () => (link.hash = location.hash));
    }
  });
})();
