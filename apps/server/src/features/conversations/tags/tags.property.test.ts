import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { asIntegration, type Chats, createChats, type TestBot } from '../../../../test/chats.js'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import type { Tags } from '../../../domain/tags.js'
import { decodeJson } from '../../../platform/db/columns.js'
import { patchedTags } from './tag-patch.js'

const name = fc.constantFrom('a', 'b', 'c')
const value = fc.constantFrom('1', '2', "it's", 'é%_')
const tags = fc.dictionary(name, value)
const patch = fc.dictionary(name, fc.oneof(value, fc.constant(null), fc.constant('')))

it('merges tags: given values win, null and "" remove, everything else stays', () => {
  fc.assert(
    fc.property(tags, tags, patch, (own, others, change) => {
      const prefixed = (given: Tags) =>
        Object.fromEntries(Object.entries(given).map(([key, text]) => [`mail:${key}`, text]))
      const stored = { ...others, ...prefixed(own) }
      const after = patchedTags('mail', stored, change)
      const expected = Object.fromEntries(
        Object.entries({ ...own, ...change }).filter(([, text]) => text),
      ) as Tags
      expect(after).toEqual({ ...others, ...prefixed(expected) })
      expect(patchedTags('mail', after, change)).toEqual(after)
    }),
  )
})

describeEachEngine('get-or-create', (engine) => {
  const database = useDatabase(engine)
  let chats: Chats
  let bot: TestBot

  beforeAll(async () => {
    chats = await createChats(database())
    bot = await chats.bot()
  })

  const call = fc.record({
    tags,
    discriminators: fc.option(fc.uniqueArray(name, { maxLength: 3 }), { nil: undefined }),
  })

  /** A simple model of the rules, on a list of the created objects. */
  function expectedOf(made: { id: string; tags: Tags }[], { tags, discriminators }: Asked) {
    if (discriminators?.length) {
      return made.find((one) => discriminators.every((key) => one.tags[key] === tags[key]))
    }
    const names = Object.keys(tags)
    return made.find(
      (one) =>
        Object.keys(one.tags).length === names.length &&
        names.every((key) => one.tags[key] === tags[key]),
    )
  }

  it('finds what the model finds, and merges the other tags into it', async () => {
    let places = 0
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 8 }), async (calls) => {
        places += 1
        const actor = asIntegration(bot.actor, `mail-${places}`)
        const made: { id: string; tags: Tags }[] = []
        for (const call of calls) {
          const named = call.discriminators?.filter((key) => key in call.tags)
          const wanted = { tags: call.tags, discriminators: named }
          const expected = expectedOf(made, wanted)
          const { row: user, created } = await chats.users.getOrCreateByTags(actor, {
            tags: call.tags,
            ...(named && { discriminateByTags: named }),
          })
          expect(created).toBe(expected === undefined)
          if (expected === undefined) made.push({ id: user.id, tags: { ...call.tags } })
          else {
            expect(user.id).toBe(expected.id)
            Object.assign(expected.tags, call.tags)
          }
          const own = made.find(({ id }) => id === user.id)
          const stored = decodeJson<Tags>(user.tags)
          expect(stored).toEqual(
            Object.fromEntries(
              Object.entries(own?.tags ?? {}).map(([key, text]) => [`mail-${places}:${key}`, text]),
            ),
          )
        }
      }),
      { numRuns: 40 },
    )
  })
})

interface Asked {
  tags: Tags
  discriminators: string[] | undefined
}
