import { Type } from 'typebox'
import { type ErrorType, errorCatalogue } from './errors.js'
import { AnyMap, OneOf } from './shared.js'

/** Body of every answer that is not a success. */
export const ErrorBody = Type.Object(
  {
    id: Type.String({ description: 'Trace id; the log of the server has the same one.' }),
    code: Type.Integer({ description: 'HTTP status, again.' }),
    type: OneOf(Object.keys(errorCatalogue) as ErrorType[], 'What went wrong, for programs.'),
    message: Type.String({
      description: 'What went wrong, for people; names the field and the rule where one is broken.',
    }),
    metadata: Type.Optional(AnyMap('Further facts, for example the field that is at fault.')),
  },
  { title: 'Error', description: 'Body of every answer that is not a success.' },
)
