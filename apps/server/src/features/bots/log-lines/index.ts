export { lineReader } from './reader.js'
export {
  conditionsOf,
  deleteSomeLines,
  insertLines,
  type LastError,
  type LineFilter,
  type LogLineRow,
  listLastErrors,
  listLinesAbout,
  pageLines,
} from './store.js'
