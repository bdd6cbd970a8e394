import { extname } from 'node:path'
import type { RootContent } from 'mdast'
import type { Source } from '../document/extraction.js'
import type { FlowBlock } from '../document/flow.js'
import { buildList, cellsIn, paragraph, plainText } from '../document/nodes.js'
import type { OmissionPlace, Omissions } from '../document/omissions.js'
import type { OfficePackage, Relations } from './opc.js'
import { descend, findElements, parseXml, textContent, type XmlElement } from './xml.js'

/** The content of parts that another part shows, by the id of their relation. */
export type LinkedParts = ReadonlyMap<string, FlowBlock[]>

/** Bytes of an embedded file; larger ones are not read. */
const maxEmbeddedBytes = 4 * 1024 * 1024
/** Embedded files of one document that are read, and levels of documents in documents. */
const maxEmbeddedFiles = 30
const maxLevels = 3

/** Extensions of files that are read as part of the document that they are in. */
const readExtensions: ReadonlySet<string> = new Set(
  '.docx .docm .dotx .xlsx .xlsm .pptx .pptm .ppsx .odt .odp .html .htm .xhtml .mht .mhtml .txt .csv'.split(
    ' ',
  ),
)

/** Parts with text: if one of them is missing, the document has lost content. */
const textParts: ReadonlySet<string> = new Set(
  'numbering footnotes endnotes comments header footer chart chartEx diagramData aFChunk package oleObject image slide notesSlide'.split(
    ' ',
  ),
)

/** Reports the parts that a part refers to and the file does not have. */
export function reportMissingParts(
  relations: Relations,
  office: OfficePackage,
  omissions: Omissions,
): void {
  for (const { type, target, external } of relations.values()) {
    if (external || !textParts.has(type) || office.archive.has(target)) continue
    omissions.add('missing_part', { part: target })
  }
}

/** Cells of the tables of all charts of a document. */
const maxChartCells = 500_000

/** State of reading the embedded parts of one document. */
interface State {
  office: OfficePackage
  source: Source
  omissions: Omissions
  /** Embedded files that have been read. */
  embedded: { count: number }
  /** Cells of the charts that have been read. */
  charts: { cells: number }
  /** Contents by type and name of their part: several places may show one. */
  known: Map<string, FlowBlock[] | undefined>
}

/** Reads the charts, diagrams and files that parts of one document show. */
export interface PartReader {
  /** @param place of the part that shows them */
  read(relations: Relations, place?: OmissionPlace): Promise<LinkedParts>
}

export function createPartReader(
  document: Pick<State, 'office' | 'source' | 'omissions'>,
): PartReader {
  const state: State = {
    ...document,
    embedded: { count: 0 },
    charts: { cells: 0 },
    known: new Map(),
  }
  return {
    async read(relations, place) {
      const parts = new Map<string, FlowBlock[]>()
      for (const [id, { type, target, external }] of relations) {
        if (external || !state.office.archive.has(target)) continue
        const key = `${type} ${target}`
        const blocks = state.known.has(key)
          ? state.known.get(key)
          : await readPart(state, type, target, place)
        state.known.set(key, blocks)
        if (blocks !== undefined) parts.set(id, blocks)
      }
      return parts
    },
  }
}

async function readPart(
  state: State,
  type: string,
  target: string,
  place: OmissionPlace | undefined,
): Promise<FlowBlock[] | undefined> {
  const { office, omissions } = state
  switch (type) {
    case 'chart':
    case 'chartEx':
    case 'diagramData': {
      if (state.charts.cells > maxChartCells) {
        omissions.add('text_cut', { ...place, part: target }, { detail: 'charts' })
        return undefined
      }
      const bytes = await office.archive.read(target)
      try {
        if (type === 'diagramData') return listOf(readDiagram(parseXml(bytes, 'dataModel')))
        // Loaded on demand: few documents have charts.
        const { readChart } = await import('./chart.js')
        const blocks = readChart(parseXml(bytes, 'chartSpace'))
        state.charts.cells += cellsIn(blocks)
        return blocks
      } catch {
        // A broken drawing is no reason to lose the text beside it.
        omissions.add('unknown_part', { ...place, part: target })
        return undefined
      }
    }
    case 'aFChunk':
      return await readEmbedded(state, target, place)
    case 'package':
    case 'oleObject': {
      const blocks = await readEmbedded(state, target, place)
      // A file that is shown as a picture is no section of the document.
      return blocks?.map((block) =>
        block.type === 'heading' ? paragraph(plainText(block)) : block,
      )
    }
    default:
      return undefined
  }
}

function listOf(texts: readonly string[]): FlowBlock[] {
  return buildList(texts.map((text) => ({ level: 0, ordered: false, content: paragraph(text) })))
}

/** The texts of a diagram (SmartArt). */
function readDiagram(model: XmlElement): string[] {
  return findElements(model, 'pt').flatMap((point) => {
    const lines = findElements(point, 'p').map(textContent)
    const text = (lines.length > 0 ? lines.join(' ') : textContent(descend(point, 't')))
      .replace(/\s+/g, ' ')
      .trim()
    return text === '' ? [] : [text]
  })
}

/** Reads an embedded file with the reader of its type, or reports that it was not read. */
async function readEmbedded(
  { office, source, omissions, embedded }: State,
  target: string,
  place: OmissionPlace | undefined,
): Promise<FlowBlock[] | undefined> {
  const extension = extname(target).toLowerCase()
  const { readInner, onPage: _, ...limits } = source
  const level = (source.level ?? 0) + 1
  const reportUnread = () => {
    omissions.add('embedded_file', { ...place, part: target }, { detail: extension || 'no type' })
    return undefined
  }
  if (
    readInner === undefined ||
    !readExtensions.has(extension) ||
    level > maxLevels ||
    embedded.count >= maxEmbeddedFiles
  )
    return reportUnread()
  const bytes = await office.archive.read(target)
  if (bytes.byteLength > maxEmbeddedBytes) return reportUnread()
  embedded.count += 1
  try {
    const inner = await readInner({ ...limits, bytes, contentType: '', key: target, level })
    for (const { kind, count, detail } of inner.omissions ?? []) {
      omissions.add(kind, { ...place, part: target }, { count, ...(detail && { detail }) })
    }
    return inner.root.children.filter(isBlock)
  } catch {
    // A broken embedded file is no fault of the document.
    return reportUnread()
  }
}

function isBlock(node: RootContent): node is FlowBlock {
  return !['yaml', 'html', 'text'].includes(node.type)
}
