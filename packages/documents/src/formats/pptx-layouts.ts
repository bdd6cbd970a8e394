import type { OfficePackage, Relations } from './opc.js'
import { attribute, descend, elements, findElements, type XmlElement } from './xml.js'

/**
 * Returns the styles of paragraphs in a placeholder that the layout of its slide and the master of the layout define,
 * the nearest first. Each has the properties of a level as `lvl1pPr` to `lvl9pPr`.
 */
export type InheritedStyles = (placeholder: XmlElement | undefined) => readonly XmlElement[]

interface Placeholder {
  index: string
  type: string
  style: XmlElement | undefined
}

interface Layout {
  placeholders: Placeholder[]
  master: { placeholders: Placeholder[]; title?: XmlElement; body?: XmlElement } | undefined
}

const titleTypes: ReadonlySet<string> = new Set(['title', 'ctrTitle'])

/** Returns a function that returns the styles for a slide with these relations. Each layout is read once. */
export function createLayoutReader(office: OfficePackage) {
  const layouts = new Map<string, Promise<Layout>>()
  return async (relations: Relations): Promise<InheritedStyles> => {
    const part = targetOf(relations, 'slideLayout', office)
    if (part === undefined) return () => []
    const known = layouts.get(part) ?? readLayout(office, part)
    layouts.set(part, known)
    const layout = await known
    return (placeholder) => (placeholder === undefined ? [] : stylesIn(layout, placeholder))
  }
}

async function readLayout(office: OfficePackage, part: string): Promise<Layout> {
  const layout = await office.parse(part, 'sldLayout')
  const placeholders = placeholdersOf(layout)
  const masterPart = targetOf(await office.relations(part), 'slideMaster', office)
  if (masterPart === undefined) return { placeholders, master: undefined }
  const master = await office.parse(masterPart, 'sldMaster')
  const [title, body] = ['titleStyle', 'bodyStyle'].map((name) => descend(master, 'txStyles', name))
  return {
    placeholders,
    master: {
      placeholders: placeholdersOf(master),
      ...(title !== undefined && { title }),
      ...(body !== undefined && { body }),
    },
  }
}

function targetOf(relations: Relations, type: string, office: OfficePackage): string | undefined {
  const found = [...relations.values()].find((relation) => relation.type === type)
  return found !== undefined && office.archive.has(found.target) ? found.target : undefined
}

function placeholdersOf(page: XmlElement): Placeholder[] {
  return findElements(page, 'sp').flatMap((shape) => {
    const placeholder = descend(shape, 'nvSpPr', 'nvPr', 'ph')
    if (placeholder === undefined) return []
    const style = descend(shape, 'txBody', 'lstStyle')
    return [{ ...nameOf(placeholder), style: elements(style).length > 0 ? style : undefined }]
  })
}

function nameOf(placeholder: XmlElement): { index: string; type: string } {
  return {
    index: attribute(placeholder, 'idx') ?? '0',
    type: attribute(placeholder, 'type') ?? 'obj',
  }
}

function stylesIn({ placeholders, master }: Layout, placeholder: XmlElement): XmlElement[] {
  const own = nameOf(placeholder)
  const above =
    placeholders.find(({ index }) => index === own.index && own.index !== '0') ??
    placeholders.find(({ type }) => type === own.type)
  const isTitle = titleTypes.has(above?.type ?? own.type)
  const ofMaster = master?.placeholders.find(({ type }) =>
    isTitle ? titleTypes.has(type) : type === 'body',
  )
  const styles = [above?.style, ofMaster?.style, isTitle ? master?.title : master?.body]
  return styles.filter((style) => style !== undefined)
}
