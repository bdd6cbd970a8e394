#!/usr/bin/env bash
# Writes the pages and e-books of this folder with the programs of Debian: pandoc and libreoffice-writer.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/harbours.md" <<'END'
---
title: Harbours
---

# Tides

The gate of H~2~O opens 10^6^ times. It has a note[^1] and a formula $\frac{1}{2}$.

[^1]: The note says *more*.

+--------+-------------+
| Day    | Dish        |
+========+=============+
| - Mon  | Soup        |
| - Tue  |             |
|        | Bread       |
+--------+-------------+

## Words

Sluice
:   A gate for water.

```python
gate = 1
  open = 2
```
END
pandoc "$work/harbours.md" -o pandoc.epub --mathml
pandoc "$work/harbours.md" -s -o pandoc.html --mathml
pandoc "$work/harbours.md" -o "$work/harbours.odt"
for format in 'html:HTML (StarWriter)' 'xhtml:XHTML Writer File' 'epub:EPUB'; do
  soffice "-env:UserInstallation=file://$work/office" --headless --convert-to "$format" --outdir "$work" "$work/harbours.odt" > "$work/log"
  mv "$work/harbours.${format%%:*}" "libreoffice.${format%%:*}"
done
