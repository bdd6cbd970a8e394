export { askReceiver, type CallDeps, type CallResult, callReceiver, sendCall } from './request.js'
export { isFinal, reasonOf } from './verdict.js'
