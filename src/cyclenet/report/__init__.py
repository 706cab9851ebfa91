"""What people look at: pictures of graphs and their cycles."""
