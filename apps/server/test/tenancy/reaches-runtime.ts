import type { Reaches } from './reaches.js'
import { noted } from './seed.js'

/** Of what bots do. */
export const runtimeReaches: Reaches = {
  getConversation: (client, { conversationId }) => client.getConversation({ id: conversationId }),
  updateConversation: (client, { conversationId }) =>
    client.updateConversation({ id: conversationId, tags: { whose: 'taken' } }),
  deleteConversation: (client, { conversationId }) =>
    client.deleteConversation({ id: conversationId }),
  listParticipants: (client, { conversationId }) => client.listParticipants({ id: conversationId }),
  addParticipant: (client, { conversationId, botId }) =>
    client.addParticipant({ id: conversationId, userId: botId }),
  getParticipant: (client, { chatConversationId, userId }) =>
    client.getParticipant({ id: chatConversationId, userId }),
  removeParticipant: (client, { chatConversationId, userId }) =>
    client.removeParticipant({ id: chatConversationId, userId }),
  getUser: (client, { userId }) => client.getUser({ id: userId }),
  listUsers: (client, { conversationId }) => client.listUsers({ conversationId }),
  updateUser: (client, { userId }) => client.updateUser({ id: userId, name: 'taken' }),
  deleteUser: (client, { userId }) => client.deleteUser({ id: userId }),
  revokeUserKeys: (client, { userId }) => client.revokeUserKeys({ id: userId }),
  banUser: (client, { userId }) => client.banUser({ id: userId }),
  unbanUser: (client, { userId }) => client.unbanUser({ id: userId }),
  createMessage: (client, { conversationId, botId }) =>
    client.createMessage({
      conversationId,
      userId: botId,
      type: 'text',
      payload: { text: 'taken' },
      tags: {},
    }),
  getOrCreateMessage: (client, { chatConversationId, userId }) =>
    client.getOrCreateMessage({
      conversationId: chatConversationId,
      userId,
      type: 'text',
      tags: {},
    }),
  getMessage: (client, { messageId }) => client.getMessage({ id: messageId }),
  updateMessage: (client, { messageId }) =>
    client.updateMessage({ id: messageId, payload: { text: 'taken' } }),
  listMessages: (client, { conversationId }) => client.listMessages({ conversationId }),
  deleteMessage: (client, { messageId }) => client.deleteMessage({ id: messageId }),
  initializeIncomingMessage: (client, { userId, conversationId }) =>
    client.initializeIncomingMessage({ userId, conversationId }),
  createEvent: (client, { conversationId, userId, messageId }) =>
    client.createEvent({ type: 'taken', payload: {}, conversationId, userId, messageId }),
  getEvent: (client, { eventId }) => client.getEvent({ id: eventId }),
  listEvents: (client, { conversationId }) => client.listEvents({ conversationId }),
  getState: (client, { conversationId }) => client.getState(noted(conversationId)),
  setState: (client, { conversationId }) =>
    client.setState({ ...noted(conversationId), payload: { taken: true } }),
  getOrSetState: (client, { conversationId }) =>
    client.getOrSetState({ ...noted(conversationId), payload: { taken: true } }),
  patchState: (client, { conversationId }) =>
    client.patchState({ ...noted(conversationId), payload: { taken: true } }),
  setStateExpiry: (client, { conversationId }) =>
    client.setStateExpiry({ ...noted(conversationId), expiry: 1 }),
  createWorkflow: (client, { conversationId, userId, workflowId }) =>
    client.createWorkflow({
      name: 'taken',
      status: 'pending',
      conversationId,
      userId,
      parentWorkflowId: workflowId,
    }),
  getWorkflow: (client, { workflowId }) => client.getWorkflow({ id: workflowId }),
  listWorkflows: (client, { conversationId, userId, workflowId }) =>
    client.listWorkflows({ conversationId, userId, parentWorkflowId: workflowId }),
  getOrCreateWorkflow: (client, { conversationId }) =>
    client.getOrCreateWorkflow({ name: 'taken', status: 'pending', conversationId }),
  updateWorkflow: (client, { workflowId }) =>
    client.updateWorkflow({ id: workflowId, status: 'cancelled' }),
  deleteWorkflow: (client, { workflowId }) => client.deleteWorkflow({ id: workflowId }),
  captureObservation: (client, { conversationId, messageId, userId, eventId }) =>
    client.captureObservation({
      name: 'taken',
      data: {},
      conversationId,
      messageId,
      userId,
      eventId,
    }),
  cancelScheduledEvent: (client, { eventId }) => client.cancelScheduledEvent({ id: eventId }),
}
