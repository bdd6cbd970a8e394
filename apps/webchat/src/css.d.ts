declare module '*.css' {
  /** The text of the styles. */
  const text: string
  // biome-ignore lint/style/noDefaultExport: the loader of texts has no other name for it
  export default text
}
