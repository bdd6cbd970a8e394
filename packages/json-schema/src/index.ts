export { describeErrors, type SchemaError, type Violation } from './describe.js'
export type { JsonSchema } from './keyword.js'
export { findSchemaFault, findViolation, listUncheckedPatterns } from './validation.js'
