/** Words of a language, the most common first: modules without types. */
declare module '@zxcvbn-ts/language-*.json.js' {
  const words: readonly string[]
  // biome-ignore lint/style/noDefaultExport: these modules have no other
  export default words
}
