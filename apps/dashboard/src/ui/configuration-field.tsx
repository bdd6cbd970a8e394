import { useState } from 'react'
import { Button } from './button.js'
import styles from './configuration-field.module.css'
import { CheckField, SelectField, TextField } from './form.js'
import { JsonField } from './json-field.js'
import { isObject, objectIn } from './json-text.js'

/** A property of a configuration that has a field of its own. */
interface Scalar {
  type: 'string' | 'number' | 'integer' | 'boolean'
  title?: string
  description?: string
  enum?: readonly string[]
  default?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  format?: string
}

const scalarTypes = ['string', 'number', 'integer', 'boolean']

interface ConfigurationFieldProps {
  label: string
  /** JSON schema of the value, as the bot or the integration declares it. */
  schema: unknown
  error?: string | undefined
  /** The value as JSON text. */
  value: string
  onChange: (value: string) => void
}

/**
 * A configuration: a field for each property that the schema describes as a text, a number or a choice,
 * or the whole as JSON, for values that have no such fields.
 */
export function ConfigurationField({
  label,
  schema,
  error,
  value,
  onChange,
}: ConfigurationFieldProps) {
  const properties = propertiesOf(schema)
  const [isJson, setJson] = useState(properties.length === 0)
  const object = objectIn(value)
  const hint = 'Checked against the schema that is declared for it.'
  const others = properties.filter(({ scalar }) => scalar === undefined)
  return (
    <fieldset className={styles.group}>
      <legend>{label}</legend>
      {isJson || object === undefined ? (
        <JsonField
          label={properties.length === 0 ? 'Value' : `${label} as JSON`}
          hint={hint}
          error={error}
          value={value}
          onChange={onChange}
        />
      ) : (
        <>
          {properties.map(
            ({ name, scalar, isRequired }) =>
              scalar !== undefined && (
                <ScalarField
                  key={name}
                  name={name}
                  scalar={scalar}
                  isRequired={isRequired}
                  value={Object.hasOwn(object, name) ? object[name] : undefined}
                  onChange={(changed) => {
                    const { [name]: _, ...rest } = object
                    const next = changed === undefined ? rest : { ...rest, [name]: changed }
                    onChange(JSON.stringify(next, undefined, 2))
                  }}
                />
              ),
          )}
          {others.length > 0 && (
            <p className={styles.others}>
              Only as JSON: {others.map(({ name }) => name).join(', ')}.
            </p>
          )}
          {error !== undefined && (
            <p role="alert" className={styles.fault}>
              {error}
            </p>
          )}
        </>
      )}
      {properties.length > 0 && (
        <div>
          <Button type="button" disabled={object === undefined} onClick={() => setJson(!isJson)}>
            {isJson ? 'Edit the fields' : 'Edit as JSON'}
          </Button>
        </div>
      )}
    </fieldset>
  )
}

interface ScalarFieldProps {
  name: string
  scalar: Scalar
  isRequired: boolean
  value: unknown
  /** Called with the new value; absent for none. */
  onChange: (value: string | number | boolean | undefined) => void
}

function ScalarField({ name, scalar, isRequired, value, onChange }: ScalarFieldProps) {
  const { type, title = name, description, default: usual } = scalar
  const label = isRequired ? `${title} (required)` : title
  if (type === 'boolean') {
    return (
      <CheckField
        label={title}
        hint={description}
        checked={value === undefined ? usual === true : value === true}
        onChange={(event) => onChange(event.target.checked)}
      />
    )
  }
  const shown = value === undefined || value === null ? '' : String(value)
  const toValue = (text: string) => {
    if (text === '') return undefined
    return type === 'string' ? text : Number(text)
  }
  if (scalar.enum !== undefined) {
    const none = isRequired && shown !== '' ? [] : [{ value: '', label: 'None' }]
    return (
      <SelectField
        label={label}
        hint={description}
        options={[...none, ...scalar.enum.map((one) => ({ value: one, label: one }))]}
        value={shown}
        onChange={(event) => onChange(toValue(event.target.value))}
      />
    )
  }
  const limits =
    type === 'string'
      ? { type: 'text', minLength: scalar.minLength, maxLength: scalar.maxLength }
      : {
          type: 'number',
          step: type === 'integer' ? 1 : 'any',
          min: scalar.minimum,
          max: scalar.maximum,
        }
  return (
    <TextField
      label={label}
      hint={description}
      required={isRequired}
      {...(usual !== undefined && { placeholder: String(usual) })}
      {...limits}
      value={shown}
      onChange={(event) => onChange(toValue(event.target.value))}
    />
  )
}

/** The names that a schema declares, in its order, each with its field if it has one. */
function propertiesOf(schema: unknown) {
  if (!isObject(schema) || !isObject(schema.properties)) return []
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    scalar: isScalar(property) ? property : undefined,
    isRequired: required.includes(name),
  }))
}

function isScalar(property: unknown): property is Scalar {
  if (!isObject(property) || !scalarTypes.includes(String(property.type))) return false
  if (property.enum === undefined) return true
  return Array.isArray(property.enum) && property.enum.every((one) => typeof one === 'string')
}
