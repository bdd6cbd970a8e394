// #region handler
exports.handler = async ({ method, path, query, headers, body }) => {
  // biome-ignore lint/suspicious/noConsole: the log of the bot
  console.log(method, path, query, headers['x-bp-operation'], body)
  return { status: 200, body: '{}' }
}
// #endregion
