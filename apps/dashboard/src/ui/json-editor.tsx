import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { Compartment, EditorState } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'

export interface JsonFieldProps {
  label: string
  /** The purpose of the value. */
  hint?: string
  error?: string | undefined
  /** Text of the value; not necessarily JSON yet. */
  value: string
  onChange: (value: string) => void
  /** Lines that are shown at least. */
  rows?: number
}

const colors = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--done)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--working)' },
])

const theme = EditorView.theme({
  '&': { background: 'var(--background)', color: 'var(--text)', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px' },
  '.cm-content': { caretColor: 'var(--text)', padding: '4px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  // No background: browsers keep it in a `style` attribute when a program sets all of the text.
  '&.cm-focused .cm-matchingBracket': {
    background: 'none',
    outline: '1px solid var(--accent)',
  },
  '.cm-selectionBackground': { background: 'var(--accent-soft) !important' },
})

/**
 * Plain text: otherwise, browsers keep the colour of text that is typed over in a `style` attribute,
 * which the content security policy forbids and reports. Undefined where a browser does not know it.
 */
const plainText = (() => {
  const probe = document.createElement('div')
  probe.setAttribute('contenteditable', 'plaintext-only')
  return probe.contentEditable === 'plaintext-only' ? 'plaintext-only' : undefined
})()

/**
 * Replaces what is selected without the browser, which keeps the style of lines that are typed over in a `style`
 * attribute, also in plain text. The selection is that of the editor: Chromium names no ranges for plain text.
 */
const typeOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { inputType, data } = event
    if (inputType !== 'insertText' || data === null || view.composing) return false
    if (view.state.selection.main.empty) return false
    event.preventDefault()
    view.dispatch(view.state.replaceSelection(data), {
      scrollIntoView: true,
      userEvent: 'input.type',
    })
    return true
  },
})

/**
 * The editor of a field with JSON: a module of its own, because its library is loaded only when such
 * a field is shown. It stands in a shadow root, where the library uses constructed style sheets; in
 * the document it would write a `<style>` element, which the content security policy forbids.
 */
export function JsonEditor({
  label,
  description,
  value,
  onChange,
  rows = 8,
  isInvalid,
}: JsonFieldProps & { description: string; isInvalid: boolean }) {
  const element = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const latest = useRef(onChange)
  latest.current = onChange
  const described = useRef(new Compartment())
  const first = useRef(value)
  /** Texts that were typed and not shown as `value` yet. */
  const typed = useRef<string[]>([])

  useEffect(() => {
    const { current } = element
    if (current === null) return
    const root = current.shadowRoot ?? current.attachShadow({ mode: 'open' })
    const made = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          history(),
          json(),
          bracketMatching(),
          syntaxHighlighting(colors),
          theme,
          EditorView.lineWrapping,
          typeOver,
          // Tab leaves the field, as it does in every other one.
          keymap.of([...defaultKeymap, ...historyKeymap]),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (!docChanged) return
            const text = state.doc.toString()
            typed.current.push(text)
            latest.current(text)
          }),
          described.current.of([]),
        ],
      }),
    })
    view.current = made
    return () => made.destroy()
  }, [])

  useEffect(() => {
    const attributes = {
      'aria-label': label,
      'aria-description': description,
      'aria-invalid': String(isInvalid),
      spellcheck: 'false',
      ...(plainText !== undefined && { contenteditable: plainText }),
    }
    view.current?.dispatch({
      effects: described.current.reconfigure([
        EditorView.contentAttributes.of(attributes),
        EditorView.theme({ '.cm-content': { minHeight: `${rows * 20}px` } }),
      ]),
    })
  }, [label, description, isInvalid, rows])

  // Follows values that were not typed here, such as those of a form that is cleared. A value that was typed may
  // arrive when more has been typed since: to follow it would take that away.
  useEffect(() => {
    const { current } = view
    if (current === undefined) return
    const isLatest = current.state.doc.toString() === value
    const index = isLatest ? typed.current.length : typed.current.indexOf(value)
    if (index === -1) {
      current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: value } })
      typed.current = []
    } else typed.current.splice(0, index + 1)
  }, [value])

  return <div ref={element} />
}
