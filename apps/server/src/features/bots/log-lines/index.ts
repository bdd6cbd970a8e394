export { lineReader } from './line-store.js'
export {
  conditionsOf,
  deleteSomeLines,
  insertLines,
  type LastError,
  type LineFilter,
  type LogLineRow,
  listLastErrors,
  listLinesAbout,
  listPositions,
  moveLines,
  pageLines,
} from './store.js'
