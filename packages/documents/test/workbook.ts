import { part, relations } from './office.js'
import { type ZipParts, zip } from './zip.js'

const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
const r = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'

/** A sheet: the rows of its data, the XML after them, and its relations. */
export interface SheetXml {
  rows: string
  after?: string
  relations?: Parameters<typeof relations>
  state?: 'hidden' | 'veryHidden'
}

/** A workbook of sheets given as XML, with the parts that are stated; a part that is `null` is left out. */
export function workbook(
  sheets: Readonly<Record<string, SheetXml | string>>,
  options: {
    /** Content of `sst`. */
    strings?: string
    /** Codes of number formats: the first is that of cells with the style 1. */
    formats?: readonly (string | number)[]
    properties?: string
    parts?: Readonly<Record<string, string | null>>
  } = {},
): Buffer {
  const list = Object.entries(sheets).map(([name, sheet]): [string, SheetXml] => [
    name,
    typeof sheet === 'string' ? { rows: sheet } : sheet,
  ])
  const names = list.map(
    ([name, { state }], at) =>
      `<sheet name="${name}" sheetId="${at + 1}" r:id="rId${at + 1}"${state === undefined ? '' : ` state="${state}"`}/>`,
  )
  const parts: Record<string, string | null> = {
    '_rels/.rels': relations(['rId1', 'officeDocument', 'xl/workbook.xml']),
    'xl/workbook.xml': `<workbook ${main} ${r}><workbookPr ${options.properties ?? ''}/><sheets>${names.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations(
      ...list.map(([, _], at): [string, string, string] => [
        `rId${at + 1}`,
        'worksheet',
        `worksheets/sheet${at + 1}.xml`,
      ]),
      ['rId90', 'sharedStrings', 'sharedStrings.xml'],
      ['rId91', 'styles', 'styles.xml'],
    ),
    'xl/sharedStrings.xml': `<sst ${main}>${options.strings ?? ''}</sst>`,
    'xl/styles.xml': stylesXml(options.formats ?? []),
  }
  list.forEach(([, sheet], at) => {
    const name = `sheet${at + 1}.xml`
    parts[`xl/worksheets/${name}`] =
      `<worksheet ${main} ${r}><sheetData>${sheet.rows}</sheetData>${sheet.after ?? ''}</worksheet>`
    if (sheet.relations !== undefined) {
      parts[`xl/worksheets/_rels/${name}.rels`] = relations(...sheet.relations)
    }
  })
  const all = Object.entries({ ...parts, ...options.parts })
  return zip(Object.fromEntries(all.filter(([, content]) => content !== null)) as ZipParts)
}

/** A built-in format is a number, one of the author a code. */
function stylesXml(formats: readonly (string | number)[]): string {
  const own = formats.flatMap((format, at) =>
    typeof format === 'number'
      ? []
      : [`<numFmt numFmtId="${164 + at}" formatCode="${escapeXml(format)}"/>`],
  )
  const styles = formats.map((format, at) => {
    return `<xf numFmtId="${typeof format === 'number' ? format : 164 + at}"/>`
  })
  return part(
    'styleSheet',
    `<numFmts>${own.join('')}</numFmts><cellXfs><xf numFmtId="0"/>${styles.join('')}</cellXfs>`,
  )
}

/** Rows of inline texts and numbers, beginning at a row and a column; empty cells are left out. */
export function rowsOf(
  values: readonly (readonly (string | number)[])[],
  { row = 1, column = 0 } = {},
): string {
  return values
    .map((line, down) => {
      const cells = line.map((value, right) => {
        const reference = `${String.fromCharCode(65 + column + right)}${row + down}`
        if (value === '') return ''
        return typeof value === 'number' ? number(reference, value) : text(reference, value)
      })
      const content = cells.join('')
      return content === '' ? '' : `<row r="${row + down}">${content}</row>`
    })
    .join('')
}

export function text(reference: string, value: string): string {
  return `<c r="${reference}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(value)}</t></is></c>`
}

export function number(reference: string, value: number | string, style = 0): string {
  return `<c r="${reference}" s="${style}"><v>${value}</v></c>`
}

function escapeXml(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
