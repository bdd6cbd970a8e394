export { askReceiver } from './ask.js'
export { type CallResult, callReceiver } from './call.js'
export { type CallDeps, sendCall } from './request.js'
export { reasonOf } from './verdict.js'
