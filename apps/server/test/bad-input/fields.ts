import type { Operation } from '@botstead/contract'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../harness.js'
import { expectRefusal, type Refusal, type Request, replaced, send } from '../request.js'
import { fieldsOf } from './contract-fields.js'
import type { Kind, Rule } from './rules.js'

/** How to break every field of an operation, by place. */
export type FieldRules = Readonly<Record<string, readonly (Rule | FieldRule)[]>>

/** A rule with a refusal of its own instead of the one for invalid input. */
export interface FieldRule {
  kind: Kind
  values: readonly unknown[]
  refusal: Refusal
}

export interface FieldTests {
  server: () => TestServer
  operation: Operation
  rules: FieldRules
  /** A request that is accepted and has something at the place. */
  example: (place: string) => Request
  /** Everything that the operation could have stored, as callers see it. */
  stored: () => Promise<unknown>
}

/**
 * Breaks every field of an operation in every way that its contract forbids. A field or constraint
 * of the contract without a rule fails, and so does a rule for what the contract does not have.
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
