import { ApiError } from '@botstead/contract'
import { messageAtField } from '@botstead/contract/error-text'
import { type ComponentProps, type ReactNode, useId, useState } from 'react'
import { Button } from './button.js'
import styles from './form.module.css'
import { shownName } from './name.js'
import { ErrorPanel } from './states.js'

interface FieldProps {
  label: string
  /** The purpose of the field and its values. */
  hint?: ReactNode
  error?: string | undefined
}

type Described = { id: string; 'aria-describedby': string | undefined; 'aria-invalid': boolean }

/** The label of a field with what is said about it. */
export function FieldFrame({
  label,
  hint,
  error,
  children,
}: FieldProps & { children: (described: Described) => ReactNode }) {
  const id = useId()
  const hasText = hint !== undefined || error !== undefined
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-describedby': hasText ? `${id}-text` : undefined,
        'aria-invalid': error !== undefined,
      })}
      {hasText && (
        <div id={`${id}-text`} className={styles.hint}>
          {error !== undefined && <div className={styles.fault}>{error}</div>}
          {hint}
        </div>
      )}
    </div>
  )
}

/** One line of text with its label. */
export function TextField({
  label,
  hint,
  error,
  ...input
}: FieldProps & Omit<ComponentProps<'input'>, 'children'>) {
  return (
    <FieldFrame label={label} hint={hint} error={error}>
      {(described) => <input {...described} {...input} className={styles.input} />}
    </FieldFrame>
  )
}

/** Several lines of text with their label. */
export function TextArea({
  label,
  hint,
  error,
  ...area
}: FieldProps & Omit<ComponentProps<'textarea'>, 'children'>) {
  return (
    <FieldFrame label={label} hint={hint} error={error}>
      {(described) => <textarea rows={4} {...described} {...area} className={styles.input} />}
    </FieldFrame>
  )
}

interface TextProps {
  error: string | undefined
  value: string
  onChange: (value: string) => void
}

/** A code of an authenticator app, which browsers and phones fill in. */
export function CodeField({
  onChange,
  ...props
}: TextProps & FieldProps & { autoFocus?: boolean }) {
  return (
    <TextField
      required
      maxLength={64}
      autoComplete="one-time-code"
      autoCapitalize="none"
      spellCheck={false}
      {...props}
      onChange={({ target }) => onChange(target.value)}
    />
  )
}

/** The name of something, with the limits that all names have. */
export function NameField({ onChange, ...props }: TextProps) {
  return (
    <TextField
      label="Name"
      required
      maxLength={200}
      {...props}
      onChange={({ target }) => onChange(target.value)}
    />
  )
}

/** A field for the purpose of a bot or a workspace. */
export function PurposeField({ onChange, ...props }: TextProps) {
  return (
    <TextArea
      label="Purpose"
      maxLength={2000}
      {...props}
      onChange={({ target }) => onChange(target.value)}
    />
  )
}

/** A choice of one of several values with its label. */
export function SelectField({
  label,
  hint,
  error,
  options,
  ...select
}: FieldProps &
  Omit<ComponentProps<'select'>, 'children'> & {
    options: readonly { value: string; label: string }[]
  }) {
  return (
    <FieldFrame label={label} hint={hint} error={error}>
      {(described) => (
        <select {...described} {...select} className={styles.input}>
          {options.map(({ value, label: text }) => (
            <option key={value} value={value}>
              {shownName(text)}
            </option>
          ))}
        </select>
      )}
    </FieldFrame>
  )
}

/** A choice of yes or no. */
export function CheckField({
  label,
  hint,
  ...input
}: Omit<FieldProps, 'error'> & Omit<ComponentProps<'input'>, 'children' | 'type'>) {
  const id = useId()
  return (
    <div className={styles.check}>
      <input id={id} type="checkbox" aria-describedby={`${id}-text`} {...input} />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint !== undefined && (
          <div id={`${id}-text`} className={styles.hint}>
            {hint}
          </div>
        )}
      </div>
    </div>
  )
}

interface FormProps {
  /** Does the work; what it throws is shown, and nothing that was typed is lost. */
  onSubmit: () => Promise<unknown>
  submit: string
  isDangerous?: boolean
  /** Not the main action of the page. */
  isSecondary?: boolean
  isDisabled?: boolean
  children: (faultOf: (field: string) => string | undefined) => ReactNode
}

/** A form that shows the refusal of the server at the field that it names, and other failures at its end. */
export function Form({
  onSubmit,
  submit,
  isDangerous,
  isSecondary,
  isDisabled,
  children,
}: FormProps) {
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const field = error instanceof ApiError ? error.metadata?.field : undefined
  /** Whether the error is about a field, or about a part of its value. */
  const isAbout = (name: string) =>
    typeof field === 'string' && (name === field || field.startsWith(`${name}.`))
  const [shownFields] = useState(() => new Set<string>())
  shownFields.clear()
  const faultOf = (name: string) => {
    shownFields.add(name)
    return isAbout(name) && error instanceof ApiError ? messageAtField(error.message) : undefined
  }
  const fields = children(faultOf)
  const isAtField = [...shownFields].some(isAbout)
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        setBusy(true)
        setError(undefined)
        onSubmit()
          .catch(setError)
          .finally(() => setBusy(false))
      }}
    >
      {fields}
      {error !== undefined && !isAtField && <ErrorPanel isAct error={error} />}
      <div>
        <Button
          type="submit"
          kind={isDangerous === true ? 'danger' : isSecondary === true ? 'plain' : 'primary'}
          isBusy={isBusy}
          disabled={isDisabled === true}
        >
          {submit}
        </Button>
      </div>
    </form>
  )
}
