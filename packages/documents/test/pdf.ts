import PDFDocument from 'pdfkit'

type Options = NonNullable<ConstructorParameters<typeof PDFDocument>[0]>

/** Makes a PDF, always the same for the same drawing. */
export async function pdf(
  draw: (document: PDFKit.PDFDocument) => void,
  options: Options = {},
): Promise<Buffer> {
  const document = new PDFDocument({
    size: 'A4',
    margin: 60,
    bufferPages: true,
    ...options,
    info: { CreationDate: new Date(0), ...options.info },
  })
  const chunks: Buffer[] = []
  document.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = new Promise<void>((resolve, reject) => {
    document.on('end', resolve)
    document.on('error', reject)
  })
  draw(document)
  document.end()
  await ended
  return Buffer.concat(chunks)
}

/** Distinct sentences. */
export function sentences(about: string, count: number): string {
  return Array.from(
    { length: count },
    (_, at) => `Sentence ${at + 1} on ${about} says that the pressure is measured every day.`,
  ).join(' ')
}

/**
 * Writes rows of cells at fixed places, with the header on every page that they take.
 * @returns the page of each row below the header
 */
export function drawTable(
  document: PDFKit.PDFDocument,
  places: readonly number[],
  rows: readonly (readonly string[])[],
): number[] {
  const [header = [], ...body] = rows
  const pages: number[] = []
  let page = 1
  let y = document.y
  const drawRow = (row: readonly string[], font: string) => {
    document.font(font).fontSize(10)
    row.forEach((cell, at) => {
      document.text(cell, places[at] ?? 0, y, { lineBreak: false })
    })
    y += 16
  }
  drawRow(header, 'Helvetica-Bold')
  for (const row of body) {
    if (y > 740) {
      document.addPage()
      page += 1
      y = 60
      drawRow(header, 'Helvetica-Bold')
    }
    drawRow(row, 'Helvetica')
    pages.push(page)
  }
  return pages
}

/**
 * Writes rows of cells at fixed places and names them as a table in the structure of the document, with the
 * header again on every page. Cells that are empty are not named, as browsers do it.
 *
 * @param options.width of the last column in points, in which its text wraps, also over pages
 */
export function drawTaggedTable(
  document: PDFKit.PDFDocument,
  places: readonly number[],
  [header = [], ...body]: readonly (readonly string[])[],
  options: { width?: number } = {},
): void {
  const { width } = options
  const table = document.struct('Table')
  document.addStructure(table)
  let y = document.y
  const drawRow = (cells: readonly string[], role: 'TH' | 'TD') => {
    const row = document.struct('TR')
    table.add(row)
    let bottom = y
    cells.forEach((cell, at) => {
      if (cell === '') return
      const isLast = at === cells.length - 1
      const text = () => {
        const wraps = isLast && width !== undefined
        document.text(cell, places[at] ?? 0, y, wraps ? { width } : { lineBreak: false })
        if (wraps) bottom = document.y
      }
      row.add(document.struct(role, {}, [text]))
    })
    row.end()
    y = bottom + (width === undefined ? 16 : 6)
  }
  const addHeader = () => {
    document.addPage()
    y = 60
    drawRow(header, 'TH')
  }
  drawRow(header, 'TH')
  for (const cells of body) {
    if (y > 740) addHeader()
    drawRow(cells, 'TD')
  }
  table.end()
  document.y = y
}

/**
 * Writes a PDF of these objects, of which the first is the catalog: for documents that pdfkit cannot make.
 *
 * @param objects dictionaries as text, or the inner part of one with its stream
 */
export function rawPdf(objects: readonly (string | readonly [string, string])[]): Buffer {
  let out = '%PDF-1.7\n'
  const places = objects.map((object, at) => {
    const place = out.length
    const body =
      typeof object === 'string'
        ? object
        : `<<${object[0]}/Length ${object[1].length}>>\nstream\n${object[1]}\nendstream`
    out += `${at + 1} 0 obj\n${body}\nendobj\n`
    return place
  })
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  const trailer = `trailer\n<</Size ${size}/Root 1 0 R>>\nstartxref\n${out.length}\n%%EOF\n`
  return Buffer.from(`${out}xref\n0 ${size}\n0000000000 65535 f \n${table}${trailer}`, 'latin1')
}

/**
 * Writes a PDF of one page of A4 size whose font `/F1` is Helvetica (object 5); `more` begins with object 6.
 */
export function rawPage(
  content: string,
  {
    page = '',
    catalog = '',
    fonts = '',
    resources = '',
    more = [],
  }: {
    page?: string
    catalog?: string
    fonts?: string
    resources?: string
    more?: readonly (string | readonly [string, string])[]
  } = {},
): Buffer {
  return rawPdf([
    `<</Type/Catalog/Pages 2 0 R${catalog}>>`,
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R${fonts}>>${resources}>>${page}>>`,
    ['', content],
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>',
    ...more,
  ])
}

/** Draws text of a raw page: with the left lower corner at `x` and `y`, along a matrix. */
export function rawText(
  x: number,
  y: number,
  text: string,
  { matrix = '1 0 0 1', size = 12, font = 'F1' } = {},
): string {
  return `BT /${font} ${size} Tf ${matrix} ${x} ${y} Tm (${text}) Tj ET\n`
}
