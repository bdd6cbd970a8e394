export async function everyMorning({ client, botId }) {
  // #region recurring
  await client.updateBot({
    id: botId,
    recurringEvents: {
      daily: { type: 'morning', payload: {}, schedule: { cron: '0 7 * * 1-5' } },
    },
  })
  // #endregion
}
