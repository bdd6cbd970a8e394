#!/usr/bin/env bash
# Makes the documents of this folder with programs that people use, from the sources beside this script.
# On Debian: apt-get install pandoc libreoffice-writer-nogui libreoffice-impress-nogui libreoffice-calc-nogui
set -euo pipefail
cd "$(dirname "$0")"
export SOURCE_DATE_EPOCH=1700000000
pandoc manual.md -o pandoc.docx
pandoc manual.md -o pandoc.odt
pandoc slides.md -o pandoc.pptx
convert() { # <source> <format> <result>
  local folder
  folder=$(mktemp -d)
  soffice -env:UserInstallation="file://$folder/profile" --headless --convert-to "$2" --outdir "$folder" "$1" > "$folder/log" 2>&1 || { cat "$folder/log"; return 1; }
  mv "$folder/${1%.*}.${2%%:*}" "$3"
  rm -r "$folder"
}
convert contract.fodt odt libreoffice.odt
convert contract.fodt docx libreoffice.docx
convert slides.fodp pptx libreoffice.pptx
convert slides.fodp odp libreoffice.odp
convert sheets.fods xlsx libreoffice.xlsx
convert sheets.fods ods libreoffice.ods
