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
