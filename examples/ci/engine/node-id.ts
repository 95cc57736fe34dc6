/** What a node may be called: nothing that means something in a path, a URI or a shell. */
export const NODE_ID = /^[a-z0-9-]{1,64}$/;
