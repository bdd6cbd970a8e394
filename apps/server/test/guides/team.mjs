export async function invite({ client }) {
  // #region invite
  const { invitationUrl } = await client.createWorkspaceMember({
    email: 'bea@example.com',
    role: 'viewer',
  })
  // http://localhost:8787/dashboard/join#bp_inv_...
  // #endregion
  return { invitationUrl }
}

export async function limit({ client, botId, accountId }) {
  // #region limit
  await client.updateBotAllowlist({
    botId,
    setting: 'SELECTED_USERS',
    users: { [accountId]: true }, // userId of a member
  })
  // #endregion
}

export async function quota({ api, token, workspaceId, client, botId }) {
  // #region quota
  await fetch(`${api}/v1/admin/bots/${botId}/quota`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${token}`,
      'x-workspace-id': workspaceId,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ type: 'invocation_calls', value: 10_000 }),
  })
  const { usage } = await client.getUsage({ id: botId, type: 'invocation_calls' })
  // { period: '2026-03', value: 37, quota: 10000, ... }
  // #endregion
  return usage
}

export async function readingToken({ api, token, workspaceId }) {
  // #region token
  const response = await fetch(`${api}/v1/admin/account/pats`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      note: 'figures of the week',
      readOnly: true,
      workspaceId,
      expiresAt: new Date(Date.now() + 7 * 24 * 60 * 60 * 1000).toISOString(),
    }),
  })
  const { pat } = await response.json()
  // #endregion
  return pat
}

export async function choosePassword({ api, token }) {
  // #region password
  const put = (what, body) =>
    fetch(`${api}/v1/admin/account/${what}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  await put('email', { email: 'ann@example.com' })
  await put('password', { password: 'seven green teapots' })
  // #endregion
}
