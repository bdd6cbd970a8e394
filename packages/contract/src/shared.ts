import { type Static, type TObjectOptions, type TSchema, Type } from 'typebox'

/** ISO 8601 in UTC with milliseconds, for example `2026-03-01T12:00:00.123Z`. */
export const Timestamp = (description: string) => Type.String({ format: 'date-time', description })

/**
 * A bound of a time range: a time, or a date for a whole day in UTC.
 * @param edge the end of the day that a date without a time means
 */
export const TimeBound = (edge: 'beginning' | 'end', description: string) =>
  Type.String({
    maxLength: 64,
    anyOf: [{ format: 'date-time' }, { format: 'date' }],
    description: `${description} A date without a time, such as \`2026-03-01\`, means the ${edge} of that day in UTC.`,
  })

/** An id created by the server or, on a chat address, by the app. Opaque to callers. */
export const Id = (description: string) =>
  Type.String({ minLength: 1, maxLength: 128, description })

/** A string of a request with a limited length in characters. */
export const Text = (maxLength: number, description: string, minLength = 0) =>
  Type.String({ minLength, maxLength, description })

/** A string of a request with a limited length in bytes of UTF-8; a character is at least one byte. */
export const TextOfBytes = (maxBytes: number, description: string, minLength = 0) =>
  Type.String({ minLength, maxLength: maxBytes, maxBytes, description })

/** A URL in a request. Not parsed: its target is up to the caller. */
export const Url = (description: string) => Text(65_536, description)

/** A string from a fixed set. A JSON Schema enum gives clearer validation errors than a union. */
export const OneOf = <const Values extends string[]>(values: [...Values], description: string) =>
  Type.Enum(values, { type: 'string', description })

/**
 * A map from any name to one type of value. Written with `additionalProperties`, because the
 * pattern of a TypeBox record does not match names that contain a line break.
 */
export const MapOf = <Value extends TSchema>(
  value: Value,
  options: TObjectOptions & { description: string },
) =>
  Type.Unsafe<Record<string, Static<Value>>>({
    type: 'object',
    additionalProperties: value,
    ...options,
  })

/** A map with values of any JSON type. */
export const AnyMap = (description: string) =>
  MapOf(Type.Unknown({ description: 'Any JSON value.' }), { description })

/** A map of a request with values of any JSON type, at most 1,000 of them. */
export const AnyMapInput = (description: string) =>
  MapOf(Type.Unknown({ description: 'Any JSON value.' }), { description, maxProperties: 1000 })

const maxTagLength = 500

/** Limits for the names in a request: at most 200 names of 1 to 200 characters. */
const nameBounds = { maxProperties: 200, propertyNames: { minLength: 1, maxLength: 200 } }

/** Tags of a response. */
export const Tags = (description: string) =>
  MapOf(Type.String({ description: 'Value of the tag.' }), { description })

/** Tags of a request: at most 200 names of 1 to 200 characters to strings of at most 500 characters. */
export const TagsInput = (description: string) =>
  MapOf(Text(maxTagLength, `Value of the tag, at most ${maxTagLength} characters.`), {
    description,
    ...nameBounds,
  })

/** Tags of an update: a value sets, `null` or `""` removes; unmentioned names stay. */
export const TagsPatch = (description: string) =>
  MapOf(
    Type.Union([Type.String({ maxLength: maxTagLength }), Type.Null()], {
      description: `Value of at most ${maxTagLength} characters; \`null\` or \`""\` removes the tag.`,
    }),
    { description, ...nameBounds },
  )

/** Tags of a get-or-create: set like those of an update, and used to find an existing object. */
export const TagsWanted = (of: string) =>
  TagsPatch(
    `Tags of the ${of}. Those that \`discriminateByTags\` names, or all of them without it, identify an existing ${of}; the others are merged into it.`,
  )

/** Names of the tags that identify an existing object. */
export const DiscriminateByTags = (of: string) =>
  Type.Array(Text(200, 'Name of a tag that is in `tags`, at most 200 characters.', 1), {
    maxItems: 50,
    description: `Only these tags are compared to find an existing ${of}, at most 50. If omitted, its tags must equal \`tags\` completely.`,
  })

/**
 * Tags of an update of files, where an empty value is a value.
 * @param limit what the result may have
 */
export const FileTagsPatch = (limit: string) =>
  MapOf(
    Type.Union([Type.String({ maxLength: maxTagLength }), Type.Null()], {
      description: `Value of at most ${maxTagLength} characters; \`null\` removes the tag.`,
    }),
    {
      description: `Merged by name: a value sets a tag, \`null\` removes it, and tags that are not mentioned stay. ${limit}`,
      ...nameBounds,
    },
  )

const propertyValue = 2000

/** Properties of a request: at most 200 names to strings of at most 2,000 characters. */
export const PropertiesInput = (description: string) =>
  MapOf(Text(propertyValue, 'Value of the property, at most 2,000 characters.'), {
    description,
    ...nameBounds,
  })

/** Properties of an update: a value sets, `null` or `""` removes; unmentioned names stay. */
export const PropertiesPatch = (description: string) =>
  MapOf(
    Type.Union([Type.String({ maxLength: propertyValue }), Type.Null()], {
      description: 'Value of at most 2,000 characters; `null` or `""` removes the property.',
    }),
    { description, ...nameBounds },
  )

/** Properties of a response. */
export const Properties = (description: string) =>
  MapOf(Type.String({ description: 'Value of the property.' }), { description })

/** A schedule: exactly one of the two fields. */
export const Schedule = Type.Object(
  {
    dateTime: Type.Optional(Timestamp('The time; at most one year from now.')),
    delay: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 31_536_000_000,
        description: 'Delay in milliseconds, at most one year.',
      }),
    ),
  },
  { title: 'Schedule', description: 'Due time; either `dateTime` or `delay` must be given.' },
)

/** Named definitions of a request: at most 200. */
export const MapInput = <Value extends TSchema>(value: Value, description: string) =>
  MapOf(value, { description, ...nameBounds })

/** Merge patch of named definitions: a value sets, `null` removes; unmentioned names stay. */
export const MapPatch = <Value extends TSchema>(value: Value, description: string) =>
  MapOf(Type.Union([value, Type.Null()], { description: 'Sets the entry; `null` removes it.' }), {
    description: `${description} Merged by name; \`null\` removes a name.`,
    ...nameBounds,
  })

const ConditionValue = Text(maxTagLength, `Value of the tag, at most ${maxTagLength} characters.`)
const ConditionValues = Type.Array(ConditionValue, {
  maxItems: 100,
  description: 'Values of the tag, at most 100.',
})

/**
 * Tag filter of a query. Per tag: a value (equals), several values (one of), or an object with
 * `in`, `not` and `exists`. All given tags must match.
 */
const TagCondition = Type.Union(
  [
    ConditionValue,
    ConditionValues,
    Type.Object(
      {
        in: Type.Optional(
          Type.Union([ConditionValue, ConditionValues], { description: 'One of these values.' }),
        ),
        not: Type.Optional(
          Type.Union([ConditionValue, ConditionValues], { description: 'None of these values.' }),
        ),
        exists: Type.Optional(
          Type.Boolean({ description: 'Whether the tag must be present (`true`) or absent.' }),
        ),
      },
      {
        // A condition that is ignored would find items that the caller means to exclude.
        additionalProperties: false,
        description: 'Conditions on one tag; all of them must hold.',
      },
    ),
  ],
  { description: 'Condition on the value of the tag.' },
)

/** Tag filter with conditions, as the file operations support it. */
export const TagFilter = MapOf(TagCondition, {
  title: 'TagFilter',
  description:
    'Only items whose tags match all of these: `tags.<name>=<value>`, repeated for one of several values, `tags.<name>.not=`, `tags.<name>.in=`, `tags.<name>.exists=true|false`; brackets (`tags[name]=`) and one JSON object are also accepted.',
  ...nameBounds,
})
export type TagFilter = Static<typeof TagFilter>

/** Tag filter by equality only, as the admin and runtime lists support it. */
export const TagEquality = MapOf(ConditionValue, {
  title: 'TagEquality',
  description: 'Only items that have all of these tags: `tags.<name>=<value>`.',
  ...nameBounds,
})

export const pageSizeDefault = 20
export const maxPageSize = 100

/** Query fields of every paginated list. */
export const paging = {
  nextToken: Type.Optional(
    Text(
      4096,
      'Pagination token: `meta.nextToken` of the previous page; omitted or empty for the first page.',
    ),
  ),
  pageSize: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxPageSize,
      default: pageSizeDefault,
      description: `Page size, ${pageSizeDefault} by default and at most ${maxPageSize}.`,
    }),
  ),
}

/** Position in a list. */
export const PageMeta = Type.Object(
  {
    nextToken: Type.Optional(
      Type.String({
        description:
          'Pagination token: pass it as `nextToken` to get the next page; absent on the last page.',
      }),
    ),
  },
  { title: 'PageMeta', description: 'Position in the list.' },
)

/** Response of a paginated list: `{ <name>: item[], meta }`. */
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

/** `{ <name>: item, meta: { created } }`: the response of a get-or-create. */
export const wrapFound = <Name extends string, Item extends TSchema>(name: Name, item: Item) =>
  Type.Object({
    ...({ [name]: item } as Record<Name, Item>),
    meta: Type.Object(
      { created: Type.Boolean({ description: 'Whether this call created it.' }) },
      { title: 'FoundMeta', description: 'Origin of the object: found or created.' },
    ),
  })

/** The response of operations without data. */
export const Empty = Type.Object({}, { title: 'Empty', description: 'No data.' })

/** Direction of a sorted list. */
export const sortDirection = (meaning: string) => Type.Optional(OneOf(['asc', 'desc'], meaning))

/** Query fields of a list that is sorted by time. */
export const sorting = {
  sortField: Type.Optional(
    OneOf(['createdAt', 'updatedAt'], 'Sort field; `createdAt` by default.'),
  ),
  sortDirection: sortDirection('Sort order; `desc`, newest first, by default.'),
}

/**
 * Query fields of a list that is restricted to a range of time.
 * @param what the items and what happened in that time, such as `users created`
 */
export const timeRange = (what: string) => ({
  afterDate: Type.Optional(TimeBound('beginning', `Only ${what} at or after this time, in UTC.`)),
  beforeDate: Type.Optional(TimeBound('end', `Only ${what} at or before this time, in UTC.`)),
})
