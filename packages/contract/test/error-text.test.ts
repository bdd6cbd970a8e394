import { describe, expect, it } from 'vitest'
import { messageAtField, messageForPeople } from '../src/error-text.js'

describe('the message of an error for people', () => {
  it.each([
    ['body.token: the token is not valid.', 'The token is not valid.', 'The token is not valid.'],
    ['body.name must be given.', 'Name must be given.', 'Must be given.'],
    [
      'body.allowedOrigins.1 must be a web site.',
      'Entry 2 of allowed origins must be a web site.',
      'Entry 2 must be a web site.',
    ],
    [
      'A name in body.tags must be short.',
      'A name in tags must be short.',
      'A name must be short.',
    ],
    ['query.tags.a must be text.', 'a of tags must be text.', 'a must be text.'],
    [
      'body.payload.lastLevel is required',
      'lastLevel of payload is required',
      'lastLevel is required',
    ],
    ['The body must be an object.', 'The body must be an object.', 'The body must be an object.'],
    [
      'body.metadata must stand beside the payload, as body.metadata.',
      'Metadata must stand beside the payload, as metadata.',
      'Must stand beside the payload, as metadata.',
    ],
    [
      'See https://body.example.com/query.html or a@body.example.',
      'See https://body.example.com/query.html or a@body.example.',
      'See https://body.example.com/query.html or a@body.example.',
    ],
  ])('%s', (message, forPeople, atField) => {
    expect(messageForPeople(message)).toBe(forPeople)
    expect(messageAtField(message)).toBe(atField)
  })
})
