export {
  type CardContent,
  type Content,
  isFilled,
  type MediaContent,
  type MediaKind,
  mediaIn,
  type Option,
  type Payload,
  readContent,
  textOf,
  toText,
} from './content.js'
export { Markdown, type MarkdownElements } from './markdown.js'
