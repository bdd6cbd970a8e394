import type { ApiError } from '@botstead/contract'
import { fieldError } from '../../domain/refusals.js'

/** A string of 1 to 200 characters in the input of an action. */
export function requireText(input: Record<string, unknown>, name: string): string {
  const value = input[name]
  if (typeof value === 'string' && /^.{1,200}$/s.test(value)) return value
  throw misshapen(name, 'must be a string of 1 to 200 characters.')
}

/** An object in the input of an action. */
export function requireMap(input: Record<string, unknown>, name: string): Record<string, unknown> {
  const value = input[name]
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value))
  }
  throw misshapen(name, 'must be an object.')
}

/** The error for a member of the input of an action. */
export function misshapen(name: string, rule: string): ApiError {
  return fieldError(`body.input.${name}`, rule, 'InvalidDataFormat')
}
