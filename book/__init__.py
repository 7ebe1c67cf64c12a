"""How the book is made: languages, figures, parity, execution and the site."""
