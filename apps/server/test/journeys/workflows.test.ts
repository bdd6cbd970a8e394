import { beforeAll, expect, it } from 'vitest'
import { describeSlow } from '../engines.js'
import { type existingClient, installSilently, makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { eventually } from '../jobs.js'

const hour = 60 * 60 * 1000

describeSlow('workflows of bots', (engine) => {
  const server = useServer(engine)
  let bot: Awaited<ReturnType<typeof makeBot>>['client']
  let mail: ReturnType<typeof existingClient>

  beforeAll(async () => {
    const made = await makeBot(server())
    bot = made.client
    mail = await installSilently(server(), made.bot.id, 'mail')
  })

  it('are followed from their start to their end', async () => {
    const { workflow: whole } = await bot.createWorkflow({ name: 'trip', status: 'pending' })
    const updates = async (workflowId: string) =>
      (await bot.listEvents({ workflowId })).events.map(({ payload }) => payload.type).reverse()
    expect(await updates(whole.id)).toEqual(['workflow_started'])
    const [start] = (await bot.listEvents({ workflowId: whole.id })).events
    await expect(bot.updateWorkflow({ id: whole.id, status: 'in_progress' })).rejects.toMatchObject(
      { type: 'InvalidPayload' },
    )
    const going = { id: whole.id, status: 'in_progress' as const, eventId: start?.id ?? '' }
    await bot.updateWorkflow(going)
    await bot.updateWorkflow({ id: whole.id, status: 'listening', output: { seats: 2 } })
    await bot.updateWorkflow(going)
    const { workflow: part } = await bot.createWorkflow({
      name: 'flight',
      status: 'listening',
      parentWorkflowId: whole.id,
      tags: { to: 'oslo' },
    })
    await bot.updateWorkflow({ id: part.id, status: 'failed', failureReason: 'no seat' })
    const { workflow: failed } = await bot.getWorkflow({ id: part.id })
    expect(failed).toMatchObject({ status: 'failed', failureReason: 'no seat' })
    expect(failed.completedAt).toBeDefined()
    await expect(bot.updateWorkflow({ id: part.id, status: 'completed' })).rejects.toMatchObject({
      type: 'RelationConflict',
    })
    await bot.deleteWorkflow({ id: part.id })
    expect(await updates(part.id)).toEqual([])
    expect(await updates('wrkflow_unknown')).toEqual([])
    const found = { name: 'trip', status: 'pending' as const, tags: {} }
    expect((await bot.getOrCreateWorkflow(found)).workflow.id).toBe(whole.id)
    await server().pass(25 * hour)
    await eventually(async () => {
      expect((await bot.getWorkflow({ id: whole.id })).workflow.status).toBe('timedout')
    })
    expect(await updates(whole.id)).toEqual([
      'workflow_started',
      'workflow_continued',
      'child_workflow_finished',
      'child_workflow_deleted',
      'workflow_timedout',
    ])
    const another = await bot.getOrCreateWorkflow({ ...found, discriminateByStatusGroup: 'active' })
    expect(another.meta.created).toBe(true)
    await expect(mail.getWorkflow({ id: whole.id })).rejects.toMatchObject({ type: 'Forbidden' })
  })

  it('are shown by their conversation, the newest of those that run', async () => {
    const { id } = (await mail.createConversation({ channel: 'thread', tags: {} })).conversation
    const current = async () => (await bot.getConversation({ id })).conversation.currentWorkflowId
    const begin = async (name: string, status: 'pending' | 'listening') =>
      (await bot.createWorkflow({ name, status, conversationId: id })).workflow.id
    expect(await current()).toBeUndefined()
    const first = await begin('first', 'pending')
    expect(await current()).toBe(first)
    const [second, third] = [await begin('second', 'listening'), await begin('third', 'listening')]
    expect(await current()).toBe(third)
    await bot.updateWorkflow({ id: second, status: 'cancelled' })
    expect(await current()).toBe(third)
    await bot.deleteWorkflow({ id: third })
    expect(await current()).toBe(first)
    await bot.updateWorkflow({ id: first, status: 'completed' })
    expect(await current()).toBeUndefined()
    expect((await mail.importMessages({ messages: [] })).messages).toEqual([])
  })
})
