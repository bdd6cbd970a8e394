import type { PhrasingContent } from 'mdast'
import type { FlowBlock } from '../document/flow.js'
import { cellsIn, paragraph } from '../document/nodes.js'
import type { Omissions } from '../document/omissions.js'
import type { Archive } from './archive.js'
import { readFormula } from './mathml.js'
import { readTable, rowsOf } from './odt-body.js'
import type { OdtObject } from './odt-text.js'
import { elements, findElements, readXml, textContent, type XmlElement } from './xml.js'

/** Objects of one document above which the others are not read. */
const maxObjects = 2000
/** Cells of the tables of all of them. */
const maxCells = 500_000

/** Reads the formulas, charts and tables that are objects inside of a document, by the names of their folders. */
export async function readObjects(
  archive: Archive,
  omissions: Omissions,
): Promise<Map<string, OdtObject>> {
  const objects = new Map<string, OdtObject>()
  let cells = 0
  for (const name of archive.names) {
    const folder = /^([^/]+(?:\/[^/]+)*)\/content\.xml$/.exec(name)?.[1]
    if (folder === undefined || objects.size >= maxObjects) continue
    if (cells > maxCells) {
      omissions.add('text_cut', { part: folder }, { detail: 'tables of objects' })
      continue
    }
    const bytes = await archive.read(name)
    try {
      const object = readObject(bytes)
      if (object === undefined) continue
      objects.set(folder, object)
      if (object.type === 'blocks') cells += cellsIn(object.blocks)
    } catch {
      // A broken object is no reason to lose the text beside it.
      omissions.add('unknown_part', { part: folder })
    }
  }
  return objects
}

function readObject(bytes: Uint8Array): OdtObject | undefined {
  let found: OdtObject | undefined
  readXml(bytes, {
    wanted: new Set(['math', 'chart', 'spreadsheet']),
    visit(element) {
      if (element.name === 'math')
        found ??= { type: 'formula', text: readFormula(element)?.text ?? '' }
      // A chart stands in an element of the same name.
      else found ??= { type: 'blocks', blocks: tablesOf(element) }
    },
  })
  return found
}

/** The titles and the tables of a chart or a sheet. */
function tablesOf(element: XmlElement): FlowBlock[] {
  const titles = ['title', 'subtitle']
    .flatMap((name) => findElements(element, name))
    .map((title) => textContent(title).replace(/\s+/g, ' ').trim())
    .filter((title) => title !== '')
  const tables = findElements(element, 'table').map((each) => readTable(rowsOf(each), readCell))
  return [...(titles.length === 0 ? [] : [paragraph(titles.join('; '))]), ...tables]
}

function readCell(cell: XmlElement): PhrasingContent[] {
  const text = elements(cell, 'p').map(textContent).join(' ').replace(/\s+/g, ' ').trim()
  // A chart without a value has this.
  return text === '' || text === 'NaN' ? [] : [{ type: 'text', value: text }]
}
