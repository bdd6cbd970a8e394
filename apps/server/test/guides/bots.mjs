// Parts of the guide to bots.

export async function versions({ client, botId }) {
  // #region versions
  const { version } = await client.createBotVersion({ id: botId, name: 'Before the new menu' })
  await client.deployBotVersion({ id: botId, versionId: version.id })
  const { url } = await client.getBotVersion({ id: botId, versionId: version.id })
  // #endregion
  return { version, url }
}

export async function issuesOf({ client, botId }) {
  // #region issues
  const { issues } = await client.listBotIssues({ id: botId })
  const { issueEvents } = await client.listBotIssueEvents({ id: botId, issueId: issues[0].id })
  // #endregion
  return { issues, issueEvents }
}

export async function figures({ client, admin, botId }) {
  // #region figures
  await client.trackAnalytics({ name: 'sold', count: 2 })

  const today = new Date().toISOString().slice(0, 10)
  const { records } = await admin.getBotAnalytics({ id: botId, startDate: today, endDate: today })
  const { userMessages, customEvents } = records[0]
  // #endregion
  return { userMessages, customEvents }
}
