export { aliasOf } from './caller.js'
export { encodePayload } from './payload.js'
export { requireShape } from './shapes.js'
export { bodyTimeOf, dueTimeOf, timeOf } from './times.js'
