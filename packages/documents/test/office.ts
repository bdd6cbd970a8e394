import { type ZipParts, zip } from './zip.js'

const xmlDeclaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const relationsNamespace = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const xmlNamespaces =
  'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:v="urn:schemas-microsoft-com:vml" ' +
  `xmlns:r="${relationsNamespace}"`

/** A relation as `id type target`, with `external` for an external target. */
type Relation = readonly [id: string, type: string, target: string, external?: 'external']

export function relations(...list: Relation[]): string {
  const each = list.map(([id, type, target, external]) => {
    const mode = external === undefined ? '' : ' TargetMode="External"'
    return `<Relationship Id="${id}" Type="${relationsNamespace}/${type}" Target="${target}"${mode}/>`
  })
  return `${xmlDeclaration}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${each.join('')}</Relationships>`
}

export function part(root: string, content: string): string {
  return `${xmlDeclaration}<${root} ${xmlNamespaces}>${content}</${root}>`
}

const stylesXml = `
  <w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
  <w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/><w:basedOn w:val="berschrift1"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
  <w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
  <w:style w:type="paragraph" w:styleId="Verzeichnis1"><w:name w:val="toc 1"/></w:style>
  <w:style w:type="paragraph" w:styleId="Zitat"><w:name w:val="Quote"/></w:style>
  <w:style w:type="paragraph" w:styleId="Listenabsatz"><w:name w:val="List Paragraph"/></w:style>`

const numberingXml = `
  <w:abstractNum w:abstractNumId="4"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
  <w:abstractNum w:abstractNumId="5"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>
  <w:num w:numId="1"><w:abstractNumId w:val="4"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="5"/></w:num>`

/** The parts of a Word document, as German Word writes it; `body` is the content of `w:body`. */
export function docxParts(body: string, more: ZipParts = {}): ZipParts {
  return {
    '[Content_Types].xml': `${xmlDeclaration}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
    '_rels/.rels': relations(['rId1', 'officeDocument', 'word/document.xml']),
    'word/document.xml': part('w:document', `<w:body>${body}<w:sectPr/></w:body>`),
    'word/_rels/document.xml.rels': relations(
      ['rId1', 'styles', 'styles.xml'],
      ['rId2', 'numbering', 'numbering.xml'],
      ['rId3', 'hyperlink', 'https://pumps.example/manual', 'external'],
      ['rId4', 'footnotes', 'footnotes.xml'],
    ),
    'word/styles.xml': part('w:styles', stylesXml),
    'word/numbering.xml': part('w:numbering', numberingXml),
    'word/footnotes.xml': part(
      'w:footnotes',
      '<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote><w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t xml:space="preserve"> Measured in 2024.</w:t></w:r></w:p></w:footnote>',
    ),
    ...more,
  }
}

export function docx(body: string, more: ZipParts = {}): Buffer {
  return zip(docxParts(body, more))
}

/** A paragraph of Word with its properties and its text or runs. */
export function wordParagraph(content: string, properties = ''): string {
  const runs = content.startsWith('<')
    ? content
    : `<w:r><w:t xml:space="preserve">${content}</w:t></w:r>`
  return `<w:p><w:pPr>${properties}</w:pPr>${runs}</w:p>`
}

export function wordTable(rows: readonly (readonly string[])[]): string {
  const body = rows.map((row) => {
    const cells = row.map((cell) => (cell.startsWith('<w:tc>') ? cell : wordCell(cell)))
    return `<w:tr>${cells.join('')}</w:tr>`
  })
  return `<w:tbl><w:tblPr/><w:tblGrid/>${body.join('')}</w:tbl>`
}

export function wordCell(text: string, properties = ''): string {
  return `<w:tc><w:tcPr>${properties}</w:tcPr>${wordParagraph(text)}</w:tc>`
}

/** A presentation of slides, each given as the content of its shape tree. */
export function pptx(slides: readonly string[], more: ZipParts = {}): Buffer {
  const ids = slides.map((_, at) => `<p:sldId id="${256 + at}" r:id="rId${at + 10}"/>`)
  const listed = slides.map(
    (_, at): Relation => [`rId${at + 10}`, 'slide', `slides/slide${slides.length - at}.xml`],
  )
  // The names of the parts are in reverse order of the slides, as after moving slides.
  const parts = slides.map((tree, at) => [
    `ppt/slides/slide${slides.length - at}.xml`,
    part('p:sld', `<p:cSld><p:spTree>${tree}</p:spTree></p:cSld>`),
  ])
  return zip({
    '_rels/.rels': relations(['rId1', 'officeDocument', 'ppt/presentation.xml']),
    'ppt/presentation.xml': part('p:presentation', `<p:sldIdLst>${ids.join('')}</p:sldIdLst>`),
    'ppt/_rels/presentation.xml.rels': relations(...listed),
    ...Object.fromEntries(parts),
    ...more,
  })
}

/** A shape of a slide: a placeholder of a kind, or a text box without one. */
export function shape(placeholder: string, ...paragraphs: string[]): string {
  const ph = placeholder === '' ? '' : `<p:ph ${placeholder}/>`
  const body = paragraphs.map((text) =>
    text.startsWith('<a:p>') ? text : `<a:p><a:r><a:rPr lang="en"/><a:t>${text}</a:t></a:r></a:p>`,
  )
  return `<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:cNvSpPr/><p:nvPr>${ph}</p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>${body.join('')}</p:txBody></p:sp>`
}

/** A workbook whose sheets are given as the content of `sheetData`, with shared strings. */
export function xlsx(
  sheets: Readonly<Record<string, string>>,
  options: { strings?: readonly string[]; states?: Readonly<Record<string, string>> } = {},
): Buffer {
  const names = Object.keys(sheets)
  const listed = names.map((name, at) => {
    const state = options.states?.[name]
    return `<sheet name="${name}" sheetId="${at + 1}"${state ? ` state="${state}"` : ''} r:id="rId${at + 1}"/>`
  })
  const strings = (options.strings ?? []).map((text) => `<si><t>${text}</t></si>`)
  const parts = names.map((name, at) => [
    `xl/worksheets/sheet${at + 1}.xml`,
    part('worksheet', `<sheetData>${sheets[name]}</sheetData>`),
  ])
  return zip({
    '_rels/.rels': relations(['rId1', 'officeDocument', 'xl/workbook.xml']),
    'xl/workbook.xml': part('workbook', `<workbookPr/><sheets>${listed.join('')}</sheets>`),
    'xl/_rels/workbook.xml.rels': relations(
      ...names.map(
        (_, at): Relation => [`rId${at + 1}`, 'worksheet', `worksheets/sheet${at + 1}.xml`],
      ),
      ['rId90', 'sharedStrings', 'sharedStrings.xml'],
      ['rId91', 'styles', 'styles.xml'],
    ),
    'xl/sharedStrings.xml': part('sst', strings.join('')),
    'xl/styles.xml': part(
      'styleSheet',
      '<numFmts count="2"><numFmt numFmtId="164" formatCode="#,##0.00\\ &quot;€&quot;"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="10"/><xf numFmtId="165"/></cellXfs>',
    ),
    ...Object.fromEntries(parts),
  })
}

/**
 * An OpenDocument text, as LibreOffice writes it.
 *
 * @param automatic further automatic styles
 */
export function odt(text: string, manifest = '', automatic = '', more: ZipParts = {}): Buffer {
  const namespaces = [
    'office',
    'text',
    'table',
    'style',
    'draw',
    'xlink',
    'svg',
    'dc',
    'manifest',
    'meta',
  ]
    .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
    .join(' ')
  const styles =
    '<office:automatic-styles><style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>' +
    `${automatic}</office:automatic-styles>`
  return zip({
    mimetype: 'application/vnd.oasis.opendocument.text',
    'content.xml': `${xmlDeclaration}<office:document-content ${namespaces}>${styles}<office:body><office:text>${text}</office:text></office:body></office:document-content>`,
    'META-INF/manifest.xml': `${xmlDeclaration}<manifest:manifest ${namespaces}>${manifest}</manifest:manifest>`,
    ...more,
  })
}

/** An e-book of chapters given as the content of their bodies. */
export function epub(chapters: readonly string[], more: ZipParts = {}): Buffer {
  const items = chapters.map(
    (_, at) =>
      `<item id="c${at}" href="text/chapter%20${at}.xhtml" media-type="application/xhtml+xml"/>`,
  )
  const spine = chapters.map((_, at) => `<itemref idref="c${at}"/>`)
  const pages = chapters.map((body, at) => [
    `OEBPS/text/chapter ${at}.xhtml`,
    `${xmlDeclaration}<!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>${body}</body></html>`,
  ])
  const points = chapters.map(
    (_, at) =>
      `<navPoint><navLabel><text>Chapter ${at + 1}</text></navLabel><content src="text/chapter%20${at}.xhtml"/></navPoint>`,
  )
  return zip({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': `${xmlDeclaration}<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`,
    'OEBPS/book.opf': `${xmlDeclaration}<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>The Pump</dc:title></metadata><manifest><item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/><item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>${items.join('')}</manifest><spine toc="ncx"><itemref idref="nav"/>${spine.join('')}</spine></package>`,
    'OEBPS/nav.xhtml': '<html><body><nav><ol><li>Contents</li></ol></nav></body></html>',
    'OEBPS/toc.ncx': `${xmlDeclaration}<ncx><navMap>${points.join('')}</navMap></ncx>`,
    ...Object.fromEntries(pages),
    ...more,
  })
}
