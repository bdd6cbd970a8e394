export async function goBack({ client, id, deployOther }) {
  // #region versions
  await client.createBotVersion({ id, name: 'Before the sale' })
  await deployOther()
  // It does not work? Go back:
  const { versions } = await client.listBotVersions({ id })
  await client.deployBotVersion({ id, versionId: versions[0].id })
  // #endregion
}
