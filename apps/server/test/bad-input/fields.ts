import type { Operation } from '@botstead/contract'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../harness.js'
import { expectRefusal, type Refusal, type Request, replaced, send } from '../request.js'
import { fieldsOf } from './contract-fields.js'
import type { Kind, Rule } from './rules.js'

/** The ways to violate every field of an operation, by path. */
export type FieldRules = Readonly<Record<string, readonly (Rule | FieldRule)[]>>

/** A rule with its own refusal instead of that for invalid input. */
export interface FieldRule {
  kind: Kind
  values: readonly unknown[]
  refusal: Refusal
}

export interface FieldTests {
  server: () => TestServer
  operation: Operation
  rules: FieldRules
  /** A valid request with a value at the path. */
  example: (place: string) => Request
  /** Everything that the operation could have stored, as callers see it. */
  stored: () => Promise<unknown>
}

/**
 * Violates every field of an operation in every way that its contract forbids. A field or constraint
 * of the contract without a rule fails, and so does a rule that the contract does not have.
 */
export function testFields({ server, operation, rules, example, stored }: FieldTests): void {
  it('has a rule for every field and constraint of the contract', () => {
    const declared = fieldsOf(operation).flatMap(({ place, kinds }) =>
      kinds.map((kind) => `${place}: ${kind}`),
    )
    const tested = Object.entries(rules).flatMap(([place, all]) =>
      all.map(({ kind }) => `${place}: ${kind}`),
    )
    expect([...new Set(tested)].sort()).toEqual([...new Set(declared)].sort())
  })

  describe.each(Object.entries(rules))('%s', (place, all) => {
    it.each(all)('$kind', async (rule) => {
      const before = await stored()
      for (const value of rule.values) {
        const response = await send(server(), operation, replaced(example(place), place, value))
        await expectRefusal(response, refusalOf(place, rule))
      }
      expect(await stored()).toEqual(before)
    })
  })
}

function refusalOf(place: string, rule: Rule | FieldRule): Refusal {
  if ('refusal' in rule) return rule.refusal
  return {
    status: 400,
    type: place.startsWith('query.') ? 'InvalidQuery' : 'InvalidPayload',
    message: `${rule.about ?? ''}${place.replaceAll(/<\w+>/g, '')} ${rule.says}`,
  }
}
