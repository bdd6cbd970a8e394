import { classesOf, lineOf, type PageNode } from './html-tree.js'
import type { XmlElement } from './xml.js'

/** Surroundings of a button. */
interface Place {
  isForm: boolean
  isName: boolean
  isCode: boolean
}

/** Classes and titles of buttons that operate the page. */
const operatingName =
  /(?:^|[-_ ])(?:copy|clipboard|close|dismiss|share|submit|hamburger|navbar|dropdown)/i
/** Labels of buttons that operate the page. */
const operatingWords =
  /^(?:cop(?:y|ied)(?: .{1,20})?|close|dismiss|cancel|ok|share(?: .{1,20})?|print|edit|like|reply|report|search|(?:toggle|open|close|main)? ?(?:menu|navigation|sidebar)|(?:show|read|load|view|see) (?:more|less|all)|more|less|back to top|next|prev(?:ious)?|submit|send|subscribe|(?:add to|go to) (?:the |your )?(?:cart|basket|bag|wish ?list|favou?rites)|buy(?: it)? now|(?:proceed to )?check ?out|(?:sign|log) ?(?:in|up|out)|(?:expand|collapse|accept|reject) all|kopieren|schließen|teilen|drucken|suchen|menü|absenden|senden|anmelden|in den warenkorb(?: legen)?|jetzt kaufen|zur kasse|mehr(?: anzeigen)?|copier|fermer|partager|imprimer|rechercher|envoyer|ajouter au panier|añadir (?:al carrito|a la cesta)|cerrar|copiar|compartir|buscar|enviar)[!.…]?$/i

/**
 * Whether a button only operates the page. One that names a section, such as the question of an answer that it unfolds,
 * is content, and so is one in a sentence.
 *
 * @param beside the nodes before and after it
 */
export function isOperating(
  button: XmlElement,
  place: Place,
  beside: readonly (PageNode | undefined)[],
): boolean {
  const text = lineOf(button)
  if (!hasWords(text)) return true
  const { attributes } = button
  if (beside.every((node) => typeof node === 'string' && hasWords(node))) return false
  const isAlone = !beside.some((node) => node !== undefined && hasWordsIn(node))
  if (place.isName && isAlone) return false
  const names = [...classesOf(button), attributes.title ?? '', attributes['aria-label'] ?? '']
  if (place.isCode || attributes['aria-haspopup'] !== undefined) return true
  if (operatingWords.test(text)) return true
  if (place.isName || unfolds(button)) return false
  const sends =
    attributes.type === undefined ? place.isForm : /^(?:submit|reset)$/i.test(attributes.type)
  return sends || names.some((name) => operatingName.test(name))
}

/** Stops at the first word: the nodes beside a button may be the rest of the page. */
function hasWordsIn(node: PageNode): boolean {
  return typeof node === 'string' ? hasWords(node) : node.children.some(hasWordsIn)
}

function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text)
}

function unfolds({ attributes }: XmlElement): boolean {
  const toggle = attributes['data-bs-toggle'] ?? attributes['data-toggle'] ?? ''
  return (
    attributes['aria-expanded'] !== undefined ||
    attributes['aria-controls'] !== undefined ||
    attributes.role === 'tab' ||
    /^(?:collapse|tab|pill|accordion)$/.test(toggle)
  )
}

/** The tabs of a page. */
export interface Tabs {
  /** The name of each panel. */
  names: ReadonlyMap<XmlElement, string>
  /** The tabs whose names stand at their panels. */
  named: ReadonlySet<XmlElement>
}

/** Finds the panels of tabs by their references, or else by their order. */
export function findTabs(page: XmlElement): Tabs {
  const tabs: XmlElement[] = []
  const panels: XmlElement[] = []
  const collect = (element: XmlElement, add: (element: XmlElement) => void) => {
    add(element)
    for (const child of element.children) if (typeof child !== 'string') collect(child, add)
  }
  collect(page, (element) => {
    if (isTab(element)) tabs.push(element)
  })
  if (tabs.length === 0) return { names: new Map(), named: new Set() }
  const targets = new Set(tabs.map(targetOf))
  collect(page, (element) => {
    const { id, role } = element.attributes
    if (isTab(element)) return
    if (role === 'tabpanel' || (id !== undefined && targets.has(id))) panels.push(element)
  })
  const names = new Map<XmlElement, string>()
  const named = new Set<XmlElement>()
  if (tabs.length === 0 || panels.length === 0) return { names, named }
  const byId = new Map(tabs.map((tab) => [tab.attributes.id, tab]))
  const byTarget = new Map(tabs.map((tab) => [targetOf(tab), tab]))
  const isOrdered = tabs.length === panels.length
  panels.forEach((panel, at) => {
    const { id, 'aria-labelledby': label } = panel.attributes
    const tab =
      (label === undefined ? undefined : byId.get(label.trim())) ??
      (id === undefined ? undefined : byTarget.get(id)) ??
      (isOrdered ? tabs[at] : undefined)
    const name = tab === undefined ? '' : lineOf(tab)
    if (tab === undefined || name === '') return
    names.set(panel, name)
    named.add(tab)
  })
  return { names, named }
}

function isTab({ attributes }: XmlElement): boolean {
  const toggle = attributes['data-bs-toggle'] ?? attributes['data-toggle']
  return attributes.role === 'tab' || toggle === 'tab' || toggle === 'pill'
}

/** The panel that a tab refers to. */
function targetOf({ attributes }: XmlElement): string | undefined {
  const { href, 'aria-controls': controls } = attributes
  const target = attributes['data-bs-target'] ?? attributes['data-target'] ?? href
  return controls ?? (target?.startsWith('#') === true ? target.slice(1) : undefined)
}
