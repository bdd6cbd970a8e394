import { equationText } from './docx-equations.js'
import { pageNumberMark } from './headers-footers.js'
import { attribute, descend, elements, type XmlElement } from './xml.js'

/** Fields of Word that are open at the current place: their instructions and results. */
export interface Fields {
  /** Begins, turns or ends a field; returns the text that a field of a form or a formula shows. */
  mark(element: XmlElement): string
  instruction(text: string): void
  /** Whether text at the current place is the result of no field, or of one that is read. */
  readonly isShown: boolean
  /** The target of the link that is open. */
  readonly url: string | undefined
  /** Whether fields are open: at the end of a document, one was never ended. */
  readonly isOpen: boolean
}

interface Field {
  instruction: string
  /** The meaning of the instruction, once its result begins. */
  result?: { isLeftOut: boolean; url: string | undefined }
  form?: XmlElement
}

/** Deeper than any program nests fields. */
const maxDepth = 100
/** Characters of an instruction; longer ones are an attack. */
const maxInstruction = 10_000

export function createFields(): Fields {
  const open: Field[] = []
  return {
    mark(element) {
      switch (attribute(element, 'fldCharType')) {
        case 'begin': {
          const form = descend(element, 'ffData')
          if (open.length < maxDepth) {
            open.push({ instruction: '', ...(form !== undefined && { form }) })
          }
          return ''
        }
        case 'separate': {
          const field = open.at(-1)
          if (field === undefined) return ''
          const { instruction } = field
          field.result = { isLeftOut: isLeftOut(instruction), url: linkTarget(instruction) }
          return isPageNumber(field.instruction) ? pageNumberMark : ''
        }
        case 'end': {
          const field = open.pop()
          if (field?.form !== undefined) return formText(field.form)
          // The result of a formula is a drawing, which no file contains.
          return field === undefined ? '' : equationText(field.instruction)
        }
        default:
          return ''
      }
    },
    instruction(text) {
      const field = open.at(-1)
      if (field === undefined || field.instruction.length >= maxInstruction) return
      field.instruction = `${field.instruction}${text}`.trimStart().slice(0, maxInstruction)
    },
    get isShown() {
      return open.every(({ result }) => result?.isLeftOut === false)
    },
    get url() {
      if (open.length === 0) return undefined
      return open.findLast(({ result }) => result?.url !== undefined)?.result?.url
    },
    get isOpen() {
      return open.length > 0
    },
  }
}

/** Whether the result of a field is no content: tables of contents, indexes, numbers of pages. */
export function isLeftOut(instruction: string): boolean {
  return /^\s*(?:TOC|INDEX|TOA)\b/i.test(instruction) || isPageNumber(instruction)
}

export function isPageNumber(instruction: string): boolean {
  return /^\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b/i.test(instruction)
}

function linkTarget(instruction: string): string | undefined {
  // With \l, the target is a place in the document.
  const target = /^\s*HYPERLINK\s+"([^"]+)"/i.exec(instruction)?.[1]
  return target !== undefined && /^(?:https?|mailto|ftp|tel):/i.test(target) ? target : undefined
}

/** The text of a check box or a drop-down list of a form. The result of a text field is in the text. */
function formText(form: XmlElement): string {
  const box = descend(form, 'checkBox')
  if (box !== undefined) {
    const state = descend(box, 'checked') ?? descend(box, 'default')
    const isChecked =
      state !== undefined && !['0', 'false', 'off'].includes(attribute(state, 'val') ?? '1')
    return isChecked ? '[x]' : '[ ]'
  }
  const list = descend(form, 'ddList')
  if (list === undefined) return ''
  const chosen = descend(list, 'result') ?? descend(list, 'default')
  const entries = elements(list, 'listEntry')
  return attribute(entries[Number(attribute(chosen, 'val') ?? 0)], 'val') ?? ''
}
