import { Type } from 'typebox'
import { type ErrorType, errorCatalogue } from './errors.js'
import { AnyMap, OneOf } from './shared.js'

/** Body of every error response. */
export const ErrorBody = Type.Object(
  {
    id: Type.String({ description: 'Trace id; the server log contains the same id.' }),
    code: Type.Integer({ description: 'HTTP status of the response, repeated.' }),
    type: OneOf(Object.keys(errorCatalogue) as ErrorType[], 'Type of the error, for programs.'),
    message: Type.String({
      description: 'Error message for people; names the field and the rule if a rule is broken.',
    }),
    metadata: Type.Optional(AnyMap('Further details, for example the field that is at fault.')),
  },
  { title: 'Error', description: 'Body of every error response.' },
)
