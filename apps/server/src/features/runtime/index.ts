export { aliasOf } from './caller.js'
export { encodePayload } from './payload.js'
export { bodyTimeOf, dueTimeOf, timeOf, type WireSchedule } from './times.js'
