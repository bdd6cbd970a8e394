import { type Static, type TProperties, type TSchema, Type } from 'typebox'

/** ISO 8601 in UTC with milliseconds, for example `2026-03-01T12:00:00.123Z`. */
export const Timestamp = (description: string) => Type.String({ format: 'date-time', description })

/** An id made by the server. Opaque to callers; at most 70 characters so that foreign ids fit too. */
export const Id = (description: string) =>
  Type.String({ minLength: 1, maxLength: 128, description })

export const maxTagLength = 500

/** Tags: names to strings of at most 500 characters. */
export const Tags = (description: string) =>
  Type.Record(
    Type.String({ minLength: 1, maxLength: 100 }),
    Type.String({ maxLength: maxTagLength }),
    { description },
  )

/** Tags of an update: a value sets, `null` or `""` removes, a name that is not mentioned stays. */
export const TagsPatch = (description: string) =>
  Type.Record(
    Type.String({ minLength: 1, maxLength: 100 }),
    Type.Union([Type.String({ maxLength: maxTagLength }), Type.Null()]),
    { description },
  )

/** A map with values of any JSON type. */
export const AnyMap = (description: string) =>
  Type.Record(Type.String(), Type.Unknown(), { description })

/**
 * Tag filter of a query. Per tag: a value (equals), several values (one of), or an object with
 * `in`, `not` and `exists`. All given tags must match.
 */
const TagCondition = Type.Union([
  Type.String(),
  Type.Array(Type.String()),
  Type.Object({
    in: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
    not: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
    exists: Type.Optional(
      Type.Union([Type.Literal('true'), Type.Literal('false'), Type.Boolean()]),
    ),
  }),
])

/** Tag filter with conditions, as the file operations understand it. */
export const TagFilter = Type.Record(Type.String(), TagCondition, {
  description:
    'Only items whose tags match all of these: `tags.<name>=<value>`, repeated for one of several, `tags.<name>.not=`, `tags.<name>.in=`, `tags.<name>.exists=true|false`; brackets (`tags[name]=`) and one JSON object are understood too.',
})
export type TagFilter = Static<typeof TagFilter>

/** Tag filter by equality alone, as the admin and runtime lists understand it. */
export const TagEquality = Type.Record(Type.String(), Type.String(), {
  description: 'Only items that carry all of these tags: `tags.<name>=<value>`.',
})

export const pageSizeDefault = 20
export const pageSizeMaximum = 100

/** Query members of every paged list. */
export const paging = {
  nextToken: Type.Optional(
    Type.String({
      maxLength: 4096,
      description: 'Value of `meta.nextToken` of the page before; leave out for the first page.',
    }),
  ),
  pageSize: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: pageSizeMaximum,
      default: pageSizeDefault,
      description: `Items per page, ${pageSizeDefault} by default and at most ${pageSizeMaximum}.`,
    }),
  ),
}

export const PageMeta = Type.Object(
  {
    nextToken: Type.Optional(
      Type.String({
        description: 'Passed back as `nextToken` to get the next page; absent on the last.',
      }),
    ),
  },
  { title: 'PageMeta', description: 'Position in the list.' },
)

/** Answer of a paged list: `{ <name>: item[], meta }`. */
export const pageOf = <Name extends string, Item extends TSchema>(
  name: Name,
  item: Item,
  description: string,
) =>
  Type.Object({
    ...({ [name]: Type.Array(item, { description }) } as Record<
      Name,
      ReturnType<typeof Type.Array<Item>>
    >),
    meta: PageMeta,
  })

/** `{ <name>: item }`. */
export const wrap = <Name extends string, Item extends TSchema>(name: Name, item: Item) =>
  Type.Object({ [name]: item } as Record<Name, Item>)

/** The answer of operations without data. */
export const Empty = Type.Object({}, { title: 'Empty', description: 'No data.' })

export const sortDirection = (meaning: string) =>
  Type.Optional(Type.Union([Type.Literal('asc'), Type.Literal('desc')], { description: meaning }))

/** A string out of a fixed set. Kept as a JSON Schema enum, which validators report more plainly than a union. */
export const OneOf = <const Values extends string[]>(values: [...Values], description: string) =>
  Type.Enum(values, { description })

export type { TProperties }
