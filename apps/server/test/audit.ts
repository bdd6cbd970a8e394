/** A client of either kind: this one has fields that the official one does not know. */
interface Reader {
  listWorkspaces(input: object): Promise<{ workspaces: { id: string }[] }>
  getAuditRecords(input: { id: string; pageSize: number }): Promise<{ records: object[] }>
}

/** The operations in the audit log of the newest workspace of a caller, newest first. */
export async function recordedOperations(client: Reader): Promise<unknown[]> {
  const [workspace] = (await client.listWorkspaces({})).workspaces
  const { records } = await client.getAuditRecords({ id: workspace?.id ?? '', pageSize: 100 })
  return records.map((record) => Reflect.get(record, 'operation'))
}
