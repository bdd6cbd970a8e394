import { workspaceHandle } from '@botstead/contract'

const rule = new RegExp(workspaceHandle.pattern)
/** Handles with a number behind that are tried. */
const maxNumbers = 20

/** Whether a text is a handle by the rules of the contract. */
export function isHandle(text: string): boolean {
  return text.length <= workspaceHandle.maxLength && rule.test(text)
}

/** Handles that resemble a text, the closest first; the text itself is not among them. */
export function similarHandles(text: string): string[] {
  const base = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{Mark}+/gu, '')
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-_]+|[-_]+$/g, '')
    .slice(0, workspaceHandle.maxLength - `-${maxNumbers}`.length)
  const stem = base === '' ? 'workspace' : base
  const numbered = Array.from({ length: maxNumbers - 1 }, (_, at) => `${stem}-${at + 2}`)
  return [stem, ...numbered].filter((handle) => handle !== text)
}
