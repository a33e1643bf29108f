package net

// SetPiece sets the largest message of a link.
func (g *Group) SetPiece(n int) { g.piece = n }
